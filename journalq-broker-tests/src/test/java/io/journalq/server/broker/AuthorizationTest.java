package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.BYTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.journalq.common.sasl.ScramMechanism;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rights of users who have logged in, with Kafka's clients and over HTTP. */
@Timeout(120)
class AuthorizationTest {
    private static final long SECONDS = 20;
    private static final String PASSWORD = "secret";

    @TempDir
    private Path directory;

    private TestBroker broker;

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldLetAUserDoWhatAclsAllowAndRememberThemAfterARestart() throws Exception {
        // given
        broker = new TestBroker(directory.resolve("data"))
                .with("listeners", "SASL_PLAINTEXT://127.0.0.1:0")
                .with("authorization.enabled", "true")
                .with("super.users", "User:root");
        for (String user : List.of("root", "ada")) {
            TestUsers.add(broker, user, PASSWORD, ScramMechanism.SCRAM_SHA_256);
        }
        broker.start();
        AclBinding acl = new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, "ord", PatternType.PREFIXED),
                new AccessControlEntry("User:ada", "127.0.0.1", AclOperation.WRITE, AclPermissionType.ALLOW));

        // when
        try (Admin admin = Admin.create(settings("root"))) {
            get(admin.createTopics(List.of(new NewTopic("orders", 1, (short) 1), new NewTopic("secrets", 1, (short) 1)))
                    .all());
            assertThatThrownBy(() -> produce("orders")).hasCauseInstanceOf(TopicAuthorizationException.class);
            get(admin.createAcls(List.of(acl)).all());
        }

        // then
        produce("orders");
        assertThatThrownBy(() -> produce("secrets")).hasCauseInstanceOf(TopicAuthorizationException.class);
        try (Admin ada = Admin.create(settings("ada"))) {
            assertThat(get(ada.listTopics().names())).containsExactly("orders");
        }

        // and when the broker is restarted
        broker.stop();
        broker.start();
        produce("orders");
        try (Admin admin = Admin.create(settings("root"))) {
            assertThat(get(admin.describeAcls(AclBindingFilter.ANY).values())).containsExactly(acl);
            assertThat(get(admin.deleteAcls(List.of(AclBindingFilter.ANY)).all()))
                    .containsExactly(acl);
        }
        assertThatThrownBy(() -> produce("orders")).hasCauseInstanceOf(TopicAuthorizationException.class);
    }

    @Test
    void shouldTellARefusedClientTheEventOfTheAuditLogAndNotTheReason() throws Exception {
        // given
        broker = new TestBroker(directory.resolve("data"))
                .with("listeners", "SASL_PLAINTEXT://127.0.0.1:0")
                .with("authorization.enabled", "true")
                .with("super.users", "User:root");
        TestUsers.add(broker, "root", PASSWORD, ScramMechanism.SCRAM_SHA_256);
        TestUsers.add(broker, "ada", PASSWORD, ScramMechanism.SCRAM_SHA_256);
        broker.start();
        AclBinding denies = new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, "orders", PatternType.LITERAL),
                new AccessControlEntry("User:ada", "*", AclOperation.ALL, AclPermissionType.DENY));

        try (AuditLines audit = new AuditLines();
                Admin root = Admin.create(settings("root"));
                Admin ada = Admin.create(settings("ada"))) {
            get(root.createAcls(List.of(denies)).all());

            // when
            String ofTopic = refusal(ada.createTopics(List.of(new NewTopic("orders", 1, (short) 1)))
                    .all());
            String ofCluster = refusal(ada.createAcls(List.of(denies)).all());
            String ofPartitions = refusal(ada.createPartitions(Map.of("orders", NewPartitions.increaseTo(2)))
                    .all());

            // then
            for (String message : List.of(ofTopic, ofCluster, ofPartitions)) {
                assertThat(message).isEqualTo("Authorization failed (event " + AuditLines.eventIn(message) + ")");
            }
            assertThat(audit.lineOf(ofTopic))
                    .contains("\"principal\":\"User:ada\"", "\"api\":\"CreateTopics\"", "\"resourceName\":\"orders\"")
                    .contains("\"rule\":\"DENY ALL");
            assertThat(audit.lineOf(ofCluster)).contains("\"api\":\"CreateAcls\"", "\"operation\":\"ALTER\"");
            assertThat(audit.lineOf(ofPartitions))
                    .contains("\"api\":\"CreatePartitions\"", "\"operation\":\"ALTER\"", "\"resourceName\":\"orders\"");
        }
    }

    @Test
    void shouldAuditWhatARightOnTheClusterAllows() throws Exception {
        // given
        broker = new TestBroker(directory.resolve("data"))
                .with("listeners", "SASL_PLAINTEXT://127.0.0.1:0")
                .with("authorization.enabled", "true")
                .with("audit.allowed.operations", "true")
                .with("super.users", "User:root");
        TestUsers.add(broker, "root", PASSWORD, ScramMechanism.SCRAM_SHA_256);
        TestUsers.add(broker, "ada", PASSWORD, ScramMechanism.SCRAM_SHA_256);
        broker.start();

        try (AuditLines audit = new AuditLines();
                Admin root = Admin.create(settings("root"));
                Admin ada = Admin.create(settings("ada"))) {
            // when
            get(root.createTopics(List.of(new NewTopic("orders", 1, (short) 1))).all());
            get(root.deleteTopics(List.of("orders")).all());
            String refused = refusal(ada.createTopics(List.of(new NewTopic("orders", 1, (short) 1)))
                    .all());

            // then
            List<String> lines = audit.linesUntil(refused);
            for (String api : List.of("CreateTopics", "DeleteTopics")) {
                assertThat(lines)
                        .as(api)
                        .anyMatch(line -> line.contains("\"result\":\"ALLOWED\",\"principal\":\"User:root\"")
                                && line.contains("\"api\":\"" + api + "\""));
            }
            assertThat(lines)
                    .filteredOn(line -> line.contains("\"result\":\"DENIED\""))
                    .as("only the right without which it is refused")
                    .singleElement()
                    .asString()
                    .contains("\"operation\":\"CREATE\",\"resourceType\":\"TOPIC\"");
        }
    }

    private static String refusal(org.apache.kafka.common.KafkaFuture<?> request) {
        Throwable refused = catchThrowable(() -> get(request));
        assertThat(refused).hasCauseInstanceOf(AuthorizationException.class);
        return refused.getCause().getMessage();
    }

    @Test
    void shouldAskForTheSameRightsOverHttp() throws Exception {
        // given
        TestKeys keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        X509Bundle ada = keys.sign("CN=ada", Algorithm.ecp256);
        X509Bundle bob = keys.sign("CN=bob", Algorithm.ecp256);
        broker = new TestBroker(directory.resolve("data"))
                .with("gateway.listener", "SSL://127.0.0.1:0")
                .with("ssl.client.auth", "required")
                .with("ssl.principal.mapping.rules", "RULE:^CN=([^,]+)$/$1/")
                .with(
                        "ssl.keystore.location",
                        keys.directory().resolve("broker.p12").toString())
                .with("ssl.keystore.password.file", keys.passwordFile().toString())
                .with(
                        "ssl.truststore.location",
                        keys.directory().resolve("authority.p12").toString())
                .with("ssl.truststore.password.file", keys.passwordFile().toString())
                .with("authorization.enabled", "true")
                .with("super.users", "User:ANONYMOUS")
                .start();
        broker.createTopic("t", 1, Map.of());
        try (Admin admin = broker.admin()) {
            get(admin.createAcls(List.of(new AclBinding(
                            new ResourcePattern(ResourceType.TOPIC, "t", PatternType.LITERAL),
                            new AccessControlEntry("User:ada", "*", AclOperation.WRITE, AclPermissionType.ALLOW))))
                    .all());
        }
        GatewayClient asAda = new GatewayClient(broker.gatewayPort(), keys.sockets(ada));
        GatewayClient asBob = new GatewayClient(broker.gatewayPort(), keys.sockets(bob));

        // then
        try (AuditLines audit = new AuditLines()) {
            String problem = asBob.post("/v1/topics/t/records", BYTES, "x").body();
            assertThat(problem).contains("urn:journalq:problem:not-allowed", "the client has no right to WRITE this");
            assertThat(audit.lineOf(problem)).contains("\"principal\":\"User:bob\"", "\"operation\":\"WRITE\"");
        }
        assertThat(asAda.post("/v1/topics/t/records", BYTES, "x").statusCode()).isEqualTo(200);
        assertThat(asAda.get("/v1/topics/t/records").statusCode()).isEqualTo(403);
        assertThat(asAda.get("/v1/topics/t/events").statusCode()).isEqualTo(403);
        assertThat(asBob.post("/v1/topics/none/records", BYTES, "x").statusCode())
                .as("a client without rights does not learn which topics exist")
                .isEqualTo(403);
    }

    @Test
    void shouldNotStartWhenASettingNamesAClass() {
        broker = new TestBroker(directory.resolve("data"))
                .with("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer");

        assertThatThrownBy(broker::start).hasMessageContaining("set authorization.enabled to true");
    }

    private Map<String, Object> settings(String user) {
        Map<String, Object> settings = new TreeMap<>(SaslClient.settings("SCRAM-SHA-256", user, PASSWORD));
        settings.put("bootstrap.servers", broker.bootstrap());
        settings.put("security.protocol", "SASL_PLAINTEXT");
        return settings;
    }

    private void produce(String topic) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings("ada"), new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(topic, new byte[10])).get(SECONDS, TimeUnit.SECONDS);
        }
    }

    private static <T> T get(org.apache.kafka.common.KafkaFuture<T> future) throws Exception {
        return future.get(SECONDS, TimeUnit.SECONDS);
    }
}
