package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.BYTES;
import static io.journalq.server.broker.GatewayClient.NDJSON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.sasl.ScramMechanism;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The gateway over TLS, called by Java's client. */
@Timeout(120)
class GatewayTlsTest {
    private static final String RECORDS = "/v1/topics/t/records";

    @TempDir
    private Path directory;

    private TestKeys keys;
    private X509Bundle ada;
    private TestBroker broker;

    @BeforeEach
    void makeKeys() throws Exception {
        keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        ada = keys.sign("CN=ada,O=Example", Algorithm.ecp256);
        broker = new TestBroker(directory.resolve("data"))
                .with("gateway.listener", "SSL://127.0.0.1:0")
                .with(
                        "ssl.keystore.location",
                        keys.directory().resolve("broker.p12").toString())
                .with("ssl.keystore.password.file", keys.passwordFile().toString())
                .with(
                        "ssl.truststore.location",
                        keys.directory().resolve("authority.p12").toString())
                .with("ssl.truststore.password.file", keys.passwordFile().toString());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private GatewayClient client(X509Bundle certificate) throws Exception {
        return new GatewayClient(broker.gatewayPort(), keys.sockets(certificate));
    }

    private void limit(String user) throws Exception {
        try (Admin admin = broker.admin()) {
            admin.alterClientQuotas(List.of(new ClientQuotaAlteration(
                            new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, user)),
                            List.of(new ClientQuotaAlteration.Op("producer_byte_rate", 1_000.0)))))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldReadBackWhatWasAppendedWhenTheGatewayIsEncrypted() throws Exception {
        // given
        broker.start();
        broker.createTopic("t", 1, Map.of("max.message.bytes", "20000000"));
        GatewayClient gateway = client(null);
        String lines = ("{\"value\":\"" + "x".repeat(1_000) + "\"}\n").repeat(5_000);

        // when 5 MB are appended as lines, and 4 MB as one record
        HttpResponse<String> appended = gateway.post(RECORDS, NDJSON, lines);
        HttpResponse<String> large = gateway.post(RECORDS, BYTES, BodyPublishers.ofByteArray(new byte[4_000_000]));

        // then
        assertThat(appended.body()).contains("\"records\":5000,");
        assertThat(large.statusCode()).isEqualTo(200);
        assertThat(gateway.get(RECORDS + "?limit=100000").body())
                .contains("\"offset\":5000,")
                .endsWith("{\"cursor\":\"0:5001\",\"atEnd\":true}\n");
        assertThat(broker.network().tlsHandshakes()).isPositive();
    }

    @Test
    void shouldNameTheUserByItsCertificateWhenClientsPresentOne() throws Exception {
        // given a gateway on every address, which is allowed because it authenticates its clients
        broker.with("gateway.listener", "SSL://0.0.0.0:0")
                .with("ssl.client.auth", "required")
                .with("ssl.principal.mapping.rules", "RULE:^CN=([^,]+),.*$/$1/");
        broker.start();
        broker.createTopic("t", 1, Map.of());
        limit("ada");
        X509Bundle bob = keys.sign("CN=bob,O=Example", Algorithm.ecp256);
        X509Bundle nobody = keys.sign("CN=nobody", Algorithm.ecp256);

        // when
        client(ada).post(RECORDS, BYTES, "x".repeat(20_000));
        int limited = client(ada).post(RECORDS, BYTES, "x").statusCode();
        int other = client(bob).post(RECORDS, BYTES, "x").statusCode();
        HttpResponse<String> unknown = client(nobody).get(RECORDS);

        // then
        assertThat(limited).isEqualTo(429);
        assertThat(other).isEqualTo(200);
        assertThat(unknown.statusCode()).isEqualTo(403);
        assertThat(unknown.body()).contains("no-identity");
        assertThatThrownBy(() -> client(null).get(RECORDS)).isInstanceOf(IOException.class);
    }

    @Test
    void shouldAcceptItsOwnPagesOnlyByHttpsWhenTheGatewayIsEncrypted() throws Exception {
        broker.start();
        broker.createTopic("t", 1, Map.of());
        GatewayClient gateway = client(null);
        String own = "://127.0.0.1:" + broker.gatewayPort();

        assertThat(gateway.post(RECORDS, BYTES, "x", "Origin", "https" + own).statusCode())
                .isEqualTo(200);
        assertThat(gateway.post(RECORDS, BYTES, "x", "Origin", "http" + own).statusCode())
                .isEqualTo(403);
    }

    @Test
    void shouldNotStartWhenAnOpenGatewayEncryptsWithoutAuthenticating() {
        broker.with("gateway.listener", "SSL://0.0.0.0:0");

        assertThatThrownBy(broker::start)
                .isInstanceOf(StartException.class)
                .hasMessageContaining("ssl.client.auth=required");
    }

    private void addUser(String name, String password) throws Exception {
        TestUsers.add(broker, name, password, ScramMechanism.values());
    }

    private static String basic(String userAndPassword) {
        return "Basic " + Base64.getEncoder().encodeToString(userAndPassword.getBytes(StandardCharsets.UTF_8));
    }

    private int post(GatewayClient gateway, String authorization) throws Exception {
        return gateway.post(RECORDS, BYTES, "x", "Authorization", authorization).statusCode();
    }

    @Test
    void shouldServeEachUserWithARightPasswordWhenClientsLogIn() throws Exception {
        // given
        broker.with("gateway.listener", "SASL_SSL://0.0.0.0:0");
        addUser("ada", "K\u00e4fer: 42");
        addUser("bob", "other");
        broker.start();
        broker.createTopic("t", 1, Map.of());
        limit("ada");
        GatewayClient gateway = client(null);

        // when one connection carries the requests of several users
        HttpResponse<String> first =
                gateway.post(RECORDS, BYTES, "x".repeat(20_000), "Authorization", basic("ada:K\u00e4fer: 42"));
        int limited = post(gateway, basic("ada:K\u00e4fer: 42"));
        int other = post(gateway, basic("bob:other"));

        // then
        assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
        assertThat(limited).isEqualTo(429);
        assertThat(other).isEqualTo(200);
    }

    @Test
    void shouldRefuseRequestsWithoutARightPasswordWhenClientsLogIn() throws Exception {
        // given
        broker.with("gateway.listener", "SASL_SSL://127.0.0.1:0").with("max.authentication.failures.per.ip", "0");
        addUser("ada", "right");
        broker.start();
        broker.createTopic("t", 1, Map.of());
        GatewayClient gateway = client(null);

        // when
        HttpResponse<String> none = gateway.get(RECORDS);

        // then
        assertThat(none.statusCode()).isEqualTo(401);
        assertThat(none.headers().firstValue("WWW-Authenticate"))
                .contains("Basic realm=\"journalq\", charset=\"UTF-8\"");
        assertThat(none.body()).contains("unauthenticated").doesNotContain("right", "(event ");
        try (AuditLines audit = new AuditLines()) {
            String refused = gateway.send(gateway.request(RECORDS).header("Authorization", basic("ada:canary")))
                    .body();
            assertThat(audit.lineOf(refused))
                    .contains("\"principal\":\"User:ada\"", "\"api\":\"gateway.listener\"", "the password is wrong")
                    .doesNotContain("canary");
        }
        for (String wrong : List.of(
                basic("ada:wrong"),
                basic("ada:"),
                basic("eve:right"),
                basic("ada"),
                basic(":right"),
                basic("\0:right"),
                "Basic ***",
                "Basic",
                "Bearer right",
                basic("ada:" + "x".repeat(5_000)))) {
            assertThat(post(gateway, wrong)).as(wrong).isEqualTo(401);
        }
        assertThat(gateway.send(gateway.request(RECORDS)
                                .header("Authorization", basic("ada:right"))
                                .header("Authorization", basic("ada:right")))
                        .statusCode())
                .as("two headers")
                .isEqualTo(401);
        assertThat(post(gateway, basic("ada:right"))).isEqualTo(200);
    }

    @Test
    void shouldShowAConsumerInstanceOnlyToTheUserWhoHasCreatedIt() throws Exception {
        broker.with("gateway.listener", "SASL_SSL://127.0.0.1:0");
        addUser("ada", "a");
        addUser("bob", "b");
        broker.start();
        GatewayClient gateway = client(null);
        String type = "application/vnd.kafka.v2+json";

        HttpResponse<String> created =
                gateway.post("/consumers/g", type, "{\"name\":\"c\"}", "Authorization", basic("ada:a"));

        String path = "/consumers/g/instances/c";
        assertThat(created.body()).contains("\"base_uri\":\"https://127.0.0.1:").contains(path);
        assertThat(gateway.send(gateway.request(path + "/assignments").header("Authorization", basic("ada:a")))
                        .statusCode())
                .isEqualTo(200);
        HttpResponse<String> foreign =
                gateway.send(gateway.request(path + "/assignments").header("Authorization", basic("bob:b")));
        assertThat(foreign.statusCode()).isEqualTo(404);
        assertThat(foreign.body()).contains("\"error_code\":40403");
        assertThat(gateway.post("/consumers/g", type, "{\"name\":\"c\"}", "Authorization", basic("bob:b"))
                        .statusCode())
                .isEqualTo(409);
    }

    @Test
    void shouldRefuseAPasswordThatItKnowsWhenTheUserGetsAnother() throws Exception {
        // given
        broker.with("gateway.listener", "SASL_SSL://127.0.0.1:0")
                .with("listeners", "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0");
        addUser("ada", "old");
        broker.start();
        broker.createTopic("t", 1, Map.of());
        GatewayClient gateway = client(null);
        assertThat(post(gateway, basic("ada:old"))).isEqualTo(200);

        // when
        Map<String, Object> ada = Map.of(
                "bootstrap.servers",
                broker.listeners().get(1).reachableHere(),
                "security.protocol",
                "SASL_PLAINTEXT",
                "sasl.mechanism",
                "SCRAM-SHA-256",
                "sasl.jaas.config",
                "org.apache.kafka.common.security.scram.ScramLoginModule required username=ada password=old;");
        try (Admin admin = Admin.create(ada)) {
            ScramCredentialInfo info =
                    new ScramCredentialInfo(org.apache.kafka.clients.admin.ScramMechanism.SCRAM_SHA_256, 4_096);
            admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion("ada", info, "new")))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }

        // then
        assertThat(post(gateway, basic("ada:old"))).isEqualTo(401);
        assertThat(post(gateway, basic("ada:new"))).isEqualTo(200);
    }

    @Test
    void shouldNotStartWhenPasswordsWouldNotBeEncrypted() {
        broker.with("gateway.listener", "SASL_PLAINTEXT://127.0.0.1:0");

        assertThatThrownBy(broker::start)
                .isInstanceOf(StartException.class)
                .hasMessageContaining("gateway.listener")
                .hasMessageContaining("SASL_SSL");
    }
}
