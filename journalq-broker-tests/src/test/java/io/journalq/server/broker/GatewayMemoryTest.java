package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.BYTES;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Bodies share the memory of all requests. */
@Timeout(120)
class GatewayMemoryTest {
    private static final int BODY_BYTES = 3 << 20;

    @TempDir
    private Path directory;

    @Test
    void shouldReadABodyOnlyWhenItsMemoryIsFree() throws Exception {
        try (TestBroker broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .with("total.in.flight.max.bytes", "16777216")
                .start()) {
            broker.createTopic("t", 1, Map.of("max.message.bytes", "33554432"));
            GatewayClient gateway = new GatewayClient(broker.gatewayPort());
            String path = "/v1/topics/t/records";
            CompletableFuture<HttpResponse<String>> second;
            try (Socket first = gateway.connect()) {
                // given a body that holds 7 of the 8 MiB for large requests, and does not arrive
                first.getOutputStream()
                        .write(("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + BYTES
                                        + "\r\nExpect: 100-continue\r\nContent-Length: " + BODY_BYTES + "\r\n\r\n")
                                .getBytes(ISO_8859_1));
                assertThat(GatewayClient.readHead(first)).startsWith("HTTP/1.1 100 ");

                // when another is sent, then it waits
                second = CompletableFuture.supplyAsync(() -> {
                    try {
                        return gateway.post(path, BYTES, BodyPublishers.ofByteArray(new byte[BODY_BYTES]));
                    } catch (Exception failure) {
                        throw new AssertionError(failure);
                    }
                });
                Thread.sleep(1_000);
                assertThat(second).isNotDone();
            }

            // when the first leaves, then the second is appended
            assertThat(second.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
            HttpResponse<String> tooLarge = gateway.post(path, BYTES, BodyPublishers.ofByteArray(new byte[10 << 20]));
            assertThat(tooLarge.statusCode()).isEqualTo(413);
            assertThat(tooLarge.body()).contains("total.in.flight.max.bytes");
        }
    }

    @Test
    void shouldReadABodyThatChangesATopicOnlyWhenItsMemoryIsFree() throws Exception {
        try (TestBroker broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .with("total.in.flight.max.bytes", "16777216")
                .start()) {
            broker.createTopic("t", 1, Map.of("max.message.bytes", "33554432"));
            GatewayClient gateway = new GatewayClient(broker.gatewayPort());
            try (Socket second = gateway.connect()) {
                try (Socket first = gateway.connect()) {
                    // given
                    sendHead(first, "/v1/topics/t/records", BYTES, BODY_BYTES);
                    assertThat(GatewayClient.readHead(first)).startsWith("HTTP/1.1 100 ");

                    // when
                    sendHead(second, "/v1/topics", "application/json", 1_000_000);
                    Thread.sleep(1_000);

                    // then
                    assertThat(second.getInputStream().available()).isZero();
                }
                assertThat(GatewayClient.readHead(second)).startsWith("HTTP/1.1 100 ");
            }
        }
    }

    private static void sendHead(Socket socket, String path, String type, int bodyBytes) throws Exception {
        socket.getOutputStream()
                .write(("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + type
                                + "\r\nExpect: 100-continue\r\nContent-Length: " + bodyBytes + "\r\n\r\n")
                        .getBytes(ISO_8859_1));
    }
}
