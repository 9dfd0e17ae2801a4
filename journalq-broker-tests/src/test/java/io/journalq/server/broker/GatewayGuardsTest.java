package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the HTTP gateway refuses before a route sees it, over real sockets. */
@Timeout(120)
class GatewayGuardsTest {
    private static final String RECORDS = "/v1/topics/t/records";

    @TempDir
    private static Path directory;

    private static TestBroker broker;
    private static GatewayClient gateway;

    @BeforeAll
    static void start() throws Exception {
        broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .with("gateway.allowed.hosts", "broker.example.com")
                .with("gateway.allowed.origins", "https://app.example.com")
                .with("admin.listener", "127.0.0.1:0")
                .start();
        broker.createTopic("t", 1, Map.of());
        gateway = new GatewayClient(broker.gatewayPort());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static String post(String headers, String body) {
        return "POST " + RECORDS + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + body;
    }

    @Test
    void shouldSayWhatIsWrongWhenThereIsNoSuchResource() throws Exception {
        HttpResponse<String> response = gateway.get("/v2/nothing");

        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(response.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
        assertThat(response.body())
                .contains("\"type\":\"urn:journalq:problem:no-such-resource\"")
                .contains("\"status\":404")
                .contains("\"title\":")
                .contains("\"detail\":")
                .contains("\"remedy\":");
    }

    @Test
    void shouldNameTheMethodsWhenAnotherIsUsed() throws Exception {
        HttpResponse<String> response =
                gateway.send(gateway.request(RECORDS).DELETE().header("Content-Type", "a/b"));

        assertThat(response.statusCode()).isEqualTo(405);
        assertThat(response.headers().firstValue("Allow").orElseThrow()).contains("POST");
    }

    @Test
    void shouldSendNoBodyAndServeTheNextRequestWhenTheMethodIsHead() throws Exception {
        String responses = gateway.exchange("HEAD " + RECORDS + " HTTP/1.1\r\nHost: localhost\r\n\r\n"
                + "GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

        String[] parts = responses.split("\r\n\r\n", -1);
        assertThat(parts).as(responses).hasSize(3);
        assertThat(parts[0]).startsWith("HTTP/1.1 405 ");
        assertThat(parts[1]).startsWith("HTTP/1.1 404 ");
    }

    @Test
    void shouldRefuseABodyWhenItHasTwoContentEncodings() throws Exception {
        String encodings = "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n";

        String response = gateway.exchange(
                post("Content-Type: a/b\r\nContent-Length: 1\r\nConnection: close\r\n" + encodings, "x"));

        assertThat(response).startsWith("HTTP/1.1 415 ");
    }

    @Test
    void shouldRefuseAParameterWhenTheRouteDoesNotKnowIt() throws Exception {
        assertThat(gateway.post(RECORDS + "?fromat=raw", "application/json", "{}")
                        .body())
                .contains("invalid-parameter")
                .contains("use one of format");
        assertThat(gateway.get(RECORDS + "?form=start").body())
                .contains("invalid-parameter")
                .contains("use one of from,");
    }

    @ParameterizedTest
    @CsvSource({
        "localhost, 404",
        "127.0.0.1:8082, 404",
        "[::1]:8082, 404",
        "broker.example.com, 404",
        "attacker.example.net, 421",
        "localhost.attacker.net, 421",
        "localhost:80:80, 421"
    })
    void shouldServeOnlyItsOwnNamesWhenAHostIsGiven(String host, int status) throws Exception {
        String response = gateway.exchange("GET /nothing HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");

        assertThat(response).startsWith("HTTP/1.1 " + status + " ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Host: a\r\nHost: localhost\r\n"})
    void shouldRefuseARequestWhenItHasNotOneHost(String hosts) throws Exception {
        assertThat(gateway.exchange("GET /nothing HTTP/1.1\r\n" + hosts + "Connection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 400 ");
    }

    @ParameterizedTest
    @CsvSource({
        "http://localhost, 200",
        "https://app.example.com, 200",
        "https://attacker.example.net, 403",
        "http://localhost:99, 403",
        "null, 403"
    })
    void shouldRefuseAWriteWhenThePageIsOfAnotherOrigin(String origin, int status) throws Exception {
        String response = gateway.exchange(post(
                "Origin: " + origin + "\r\nContent-Type: application/octet-stream\r\nContent-Length: 1\r\n"
                        + "Connection: close\r\n",
                "x"));

        assertThat(response).startsWith("HTTP/1.1 " + status + " ");
        assertThat(response).doesNotContainIgnoringCase("Access-Control-Allow-Origin");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Content-Type: text/plain\r\n",
                "Content-Type: Text/Plain; charset=utf-8\r\n",
                "Content-Type: application/x-www-form-urlencoded\r\n",
                "Content-Type: multipart/form-data; boundary=x\r\n",
                "Content-Type: application/json\r\nContent-Type: text/plain\r\n"
            })
    void shouldRefuseABodyWhenAnHtmlFormCouldSendIt(String type) throws Exception {
        String response = gateway.exchange(post(type + "Content-Length: 1\r\nConnection: close\r\n", "x"));

        assertThat(response).startsWith("HTTP/1.1 415 ").contains("unsupported-media-type");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                "Content-Length: 5\r\nContent-Length: 6\r\n",
                "Content-Length: 5\r\nContent-Length: 5\r\n",
                "Content-Length: 5, 5\r\n",
                "Content-Length: +5\r\n",
                "Content-Length: -5\r\n",
                "Content-Length: 0x5\r\n",
                "Content-Length : 5\r\n",
                "Transfer-Encoding: chunked, identity\r\n",
                "Transfer-Encoding: identity\r\n",
                "Transfer-Encoding: xchunked\r\n",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                "Transfer-Encoding : chunked\r\n"
            })
    void shouldRefuseARequestAndReadNoOtherWhenItsEndIsNotCertain(String framing) throws Exception {
        String response = gateway.exchange(post(
                "Content-Type: application/octet-stream\r\n" + framing,
                "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"));

        assertThat(response).startsWith("HTTP/1.1 400 ");
        assertThat(response.split("HTTP/1\\.1 ", -1)).as(response).hasSize(2);
    }

    @Test
    void shouldRefuseATransferEncodingWhenTheRequestIsOfHttp10() throws Exception {
        String response = gateway.exchange("POST " + RECORDS + " HTTP/1.0\r\nHost: localhost\r\n"
                + "Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");

        assertThat(response).contains(" 400 ");
    }

    @Test
    void shouldRefuseAHeadWhenItExceeds16KiB() throws Exception {
        assertThat(gateway.exchange("GET /" + "a".repeat(9_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                .startsWith("HTTP/1.1 414 ");
        assertThat(gateway.exchange("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "a".repeat(9_000) + "\r\n\r\n"))
                .startsWith("HTTP/1.1 431 ");
    }

    @Test
    void shouldRefuseABodyWhenItAnnouncesMoreThan64MiB() throws Exception {
        String response =
                gateway.exchange(post("Content-Type: application/octet-stream\r\nContent-Length: 67108865\r\n", "x"));

        assertThat(response)
                .startsWith("HTTP/1.1 413 ")
                .contains("Connection: close".toLowerCase(java.util.Locale.ROOT));
    }

    @Test
    void shouldCloseABodyWhenItArrivesBelow1KiBASecond() throws Exception {
        try (Socket socket = gateway.connect()) {
            socket.getOutputStream()
                    .write(post("Content-Type: application/octet-stream\r\nContent-Length: 100000\r\n", "begin")
                            .getBytes(ISO_8859_1));
            assertThat(GatewayClient.readAll(socket))
                    .startsWith("HTTP/1.1 408 ")
                    .contains("slow-request");
        }
    }

    @Test
    @Tag("long")
    void shouldCloseAConnectionWhenItsHeadDoesNotArrive() throws Exception {
        try (Socket socket = gateway.connect()) {
            socket.getOutputStream().write("GET / HTTP/1.1\r\nHo".getBytes(ISO_8859_1));
            assertThat(GatewayClient.readAll(socket)).startsWith("HTTP/1.1 408 ");
        }
    }

    @Test
    void shouldAskForTheBodyWhenTheClientWaitsForPermission() throws Exception {
        String headers = "Content-Type: application/octet-stream\r\nContent-Length: 5\r\nExpect: 100-continue\r\n";
        try (Socket socket = gateway.connect()) {
            socket.getOutputStream().write(post(headers, "").getBytes(ISO_8859_1));
            assertThat(GatewayClient.readHead(socket)).startsWith("HTTP/1.1 100 ");
            socket.getOutputStream().write("hello".getBytes(ISO_8859_1));
            assertThat(GatewayClient.readHead(socket)).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void shouldServeRequestsInOrderWhenTheyArePipelined() throws Exception {
        String one = post("Content-Type: application/octet-stream\r\nContent-Length: 1\r\n", "x");
        String last = "GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

        String responses = gateway.exchange(one.repeat(500) + last);

        assertThat(responses.split("HTTP/1\\.1 200 ", -1)).hasSize(501);
        assertThat(responses).contains("HTTP/1.1 404 ");
    }

    @Test
    void shouldTurnConnectionsAwayWhen2000AreOpen() throws Exception {
        double before = connections();
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < 2_000; i++) {
                sockets.add(gateway.connect());
            }
            try (Socket next = gateway.connect()) {
                assertThat(next.getInputStream().read()).isEqualTo(-1);
            }
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
        broker.await(() -> connections() <= before);
        assertThat(metric("journalq_gateway_connections_over_limit_total ")).doesNotStartWith("0");
    }

    @Test
    void shouldCountRequestsAndProblemsWhenMetricsAreRead() throws Exception {
        gateway.get("/v2/nothing");

        assertThat(metric("journalq_gateway_requests_total{route=\"(none)\",status=\"404\"} "))
                .isNotEmpty();
        assertThat(metric("journalq_gateway_problems_total{problem=\"no-such-resource\"} "))
                .doesNotStartWith("0");
    }

    private static double connections() {
        return Double.parseDouble(metric("journalq_gateway_connections "));
    }

    private static String metric(String name) {
        try {
            String page = broker.page("/metrics").body();
            int start = page.indexOf("\n" + name) + 1;
            return start == 0 ? "" : page.substring(start + name.length(), page.indexOf('\n', start));
        } catch (IOException | InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void shouldNotStartWhenOtherMachinesCouldUseTheGateway(@TempDir Path other) throws Exception {
        try (TestBroker open = new TestBroker(other).with("gateway.listener", "0.0.0.0:0")) {
            assertThatThrownBy(open::start)
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining("gateway.listener")
                    .hasMessageContaining("gateway.allow.anonymous=true");
            open.with("gateway.allow.anonymous", "true").start();
            assertThat(open.gatewayPort()).isPositive();
        }
    }

    @Test
    void shouldNameTheSettingWhenTheAddressIsInUse(@TempDir Path other) {
        try (TestBroker second = new TestBroker(other).with("gateway.listener", "127.0.0.1:" + broker.gatewayPort())) {
            assertThatThrownBy(second::start)
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining("cannot listen on 127.0.0.1:" + broker.gatewayPort())
                    .hasMessageContaining("set another in 'gateway.listener', or leave it empty");
        }
    }
}
