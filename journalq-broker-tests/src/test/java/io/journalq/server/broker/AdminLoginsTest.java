package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.sasl.ScramMechanism;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import io.netty.pkitesting.X509Bundle;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may read the pages of the admin listener. A request that names another origin counts as one of a stranger. */
@Timeout(120)
class AdminLoginsTest {
    private static final String TOKEN = "0123456789abcdef-token";

    @TempDir
    private Path directory;

    private TestKeys keys;
    private TestBroker broker;

    @BeforeEach
    void makeKeys() throws Exception {
        keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        broker = new TestBroker(directory.resolve("data"));
    }

    private void encrypt() throws Exception {
        Path token = Files.writeString(directory.resolve("token"), TOKEN + "\n");
        broker.with("admin.listener", "SSL://127.0.0.1:0")
                .with("admin.token.file", token.toString())
                .with("ssl.client.auth", "requested")
                .with("ssl.principal.mapping.rules", "RULE:^CN=([^,]+),O=Example$/$1/")
                .with("ssl.keystore.type", "PEM")
                .with(
                        "ssl.keystore.location",
                        keys.directory().resolve("broker.pem").toString())
                .with("ssl.truststore.type", "PEM")
                .with(
                        "ssl.truststore.location",
                        keys.directory().resolve("authority.pem").toString());
        TestUsers.add(broker, "ada", "right", ScramMechanism.SCRAM_SHA_512);
        broker.start();
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private static HttpResponse<String> ofStranger(GatewayClient client, String path, String... headers)
            throws Exception {
        HttpRequest.Builder request = client.request(path).header("X-Forwarded-For", "192.0.2.1");
        return client.send(headers.length == 0 ? request : request.headers(headers));
    }

    private static String basic(String userAndPassword) {
        return "Basic " + Base64.getEncoder().encodeToString(userAndPassword.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via"})
    void shouldTellStrangersOnlyThatTheBrokerIsUpWhenTheListenerIsPlain(String header) throws Exception {
        // given
        broker.with("admin.listener", "0.0.0.0:0").start();
        GatewayClient client = new GatewayClient(broker.adminPort());

        // when
        HttpResponse<String> health = client.send(client.request("/health").header(header, "192.0.2.1"));
        HttpResponse<String> metrics = client.send(client.request("/metrics").header(header, "127.0.0.1"));

        // then
        assertThat(health.statusCode()).isEqualTo(200);
        assertThat(health.body()).isEqualTo("{\"status\":\"up\"}");
        assertThat(metrics.statusCode()).isEqualTo(403);
        assertThat(metrics.body()).contains("use SSL in admin.listener").doesNotContain("journalq_");
        assertThat(client.get("/metrics").statusCode())
                .as("programs on this machine")
                .isEqualTo(200);
    }

    @Test
    void shouldRefuseEvenTheRightPasswordWhenTooManyWereWrong() throws Exception {
        // given
        broker.with("max.authentication.failures.per.ip", "2");
        encrypt();
        GatewayClient client = new GatewayClient(broker.adminPort(), keys.sockets(null));
        for (int i = 0; i < 2; i++) {
            assertThat(ofStranger(client, "/metrics", "Authorization", basic("ada:guess" + i))
                            .statusCode())
                    .isEqualTo(401);
        }

        // when
        HttpResponse<String> refused = ofStranger(client, "/metrics", "Authorization", basic("ada:right"));

        // then
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.body()).contains("too many logins of this address have failed within a minute");
        assertThat(ofStranger(client, "/metrics", "Authorization", "Bearer " + TOKEN)
                        .statusCode())
                .as("the token of the settings")
                .isEqualTo(200);
    }

    @Test
    void shouldIgnorePasswordsOfStrangersWhenTheListenerIsPlain() throws Exception {
        broker.with("admin.listener", "0.0.0.0:0");
        TestUsers.add(broker, "ada", "right", ScramMechanism.SCRAM_SHA_512);
        broker.start();
        GatewayClient client = new GatewayClient(broker.adminPort());

        assertThat(ofStranger(client, "/metrics", "Authorization", basic("ada:right"))
                        .statusCode())
                .isEqualTo(403);
    }

    @Test
    void shouldShowEverythingToStrangersWhenThatIsAllowed() throws Exception {
        broker.with("admin.listener", "0.0.0.0:0")
                .with("allow.insecure.listeners", "true")
                .start();

        HttpResponse<String> metrics = ofStranger(new GatewayClient(broker.adminPort()), "/metrics");

        assertThat(metrics.statusCode()).isEqualTo(200);
        assertThat(metrics.body()).contains("journalq_");
    }

    @Test
    void shouldServeClientsThatProveWhoTheyAreWhenTheListenerIsEncrypted() throws Exception {
        // given
        encrypt();
        X509Bundle bob = keys.sign("CN=bob,O=Example", Algorithm.ecp256);
        X509Bundle nobody = keys.sign("CN=nobody", Algorithm.ecp256);
        GatewayClient client = new GatewayClient(broker.adminPort(), keys.sockets(null));

        // then
        assertThat(client.get("/metrics").statusCode()).as("this machine").isEqualTo(200);
        assertThat(ofStranger(client, "/health").body()).isEqualTo("{\"status\":\"up\"}");
        HttpResponse<String> stranger = ofStranger(client, "/metrics");
        assertThat(stranger.statusCode()).isEqualTo(401);
        assertThat(stranger.headers().allValues("WWW-Authenticate"))
                .containsExactly("Basic realm=\"journalq\", charset=\"UTF-8\"", "Bearer");
        for (String right : List.of(basic("ada:right"), "Bearer " + TOKEN, "bearer  " + TOKEN)) {
            assertThat(ofStranger(client, "/metrics", "Authorization", right).statusCode())
                    .as(right)
                    .isEqualTo(200);
        }
        assertThat(ofStranger(new GatewayClient(broker.adminPort(), keys.sockets(bob)), "/metrics")
                        .statusCode())
                .as("a certificate that has a name")
                .isEqualTo(200);
        assertThat(ofStranger(new GatewayClient(broker.adminPort(), keys.sockets(nobody)), "/metrics")
                        .statusCode())
                .as("a certificate without a name")
                .isEqualTo(401);
    }

    @Test
    void shouldRefuseWrongPasswordsAndTokensWhenTheListenerIsEncrypted() throws Exception {
        broker.with("max.authentication.failures.per.ip", "0");
        encrypt();
        GatewayClient client = new GatewayClient(broker.adminPort(), keys.sockets(null));

        for (String wrong : List.of(
                basic("ada:wrong"),
                basic("eve:right"),
                basic("ada"),
                "Basic ***",
                "Bearer",
                "Bearer " + TOKEN + "x",
                "Bearer " + TOKEN.substring(1),
                TOKEN,
                "Bearer " + "x".repeat(5_000))) {
            HttpResponse<String> refused = ofStranger(client, "/metrics", "Authorization", wrong);
            assertThat(refused.statusCode()).as(wrong).isEqualTo(401);
            assertThat(refused.body()).isEqualTo("the user, the password or the token is wrong\n");
            assertThat(ofStranger(client, "/health", "Authorization", wrong).statusCode())
                    .as("a wrong password is no anonymous request")
                    .isEqualTo(401);
        }
    }

    @Test
    void shouldNotStartWhenTheTokenIsTooShort() throws Exception {
        Path token = Files.writeString(directory.resolve("short"), "guess-me");
        broker.with("admin.listener", "SSL://127.0.0.1:0")
                .with("admin.token.file", token.toString())
                .with("ssl.keystore.type", "PEM")
                .with(
                        "ssl.keystore.location",
                        keys.directory().resolve("broker.pem").toString());

        assertThatThrownBy(broker::start)
                .isInstanceOf(StartException.class)
                .hasMessageStartingWith("admin.token.file: the token in " + token + " must have 16 to")
                .hasMessageNotContaining("guess-me");
    }
}
