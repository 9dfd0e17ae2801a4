package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.Producer;
import io.journalq.client.error.AuthenticationFailedException;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.security.SaslConfig;
import io.journalq.client.security.TlsConfig;
import io.journalq.server.config.BrokerConfigLoader;
import io.journalq.server.config.ConfigException;
import io.journalq.server.security.token.TestIssuer;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.security.auth.callback.Callback;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerTokenCallback;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Logins with tokens, with Kafka's client and that of JournalQ. */
@Timeout(120)
class OAuthTest {
    /** What Kafka's client sends; it finds the class of the handler by its name. */
    private static volatile String kafkasToken;

    @TempDir
    private Path directory;

    private TestKeys keys;
    private TestBroker broker;

    /** Gives Kafka's client the token. */
    public static final class GivenToken implements AuthenticateCallbackHandler {
        @Override
        public void configure(Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> entries) {}

        @Override
        public void handle(Callback[] callbacks) {
            for (Callback callback : callbacks) {
                if (callback instanceof OAuthBearerTokenCallback wanted) {
                    wanted.token(new Token(kafkasToken));
                }
            }
        }

        @Override
        public void close() {}
    }

    private record Token(String value) implements OAuthBearerToken {
        @Override
        public Set<String> scope() {
            return Set.of();
        }

        @Override
        public long lifetimeMs() {
            return Long.MAX_VALUE;
        }

        @Override
        public String principalName() {
            return "unused";
        }

        @Override
        public Long startTimeMs() {
            return null;
        }
    }

    @BeforeEach
    void prepare() throws Exception {
        keys = new TestKeys(directory.resolve("keys"), "JournalQ test authority");
        keys.write("broker", keys.sign("CN=broker", Algorithm.ecp256));
        Path jwks = Files.writeString(directory.resolve("jwks.json"), TestIssuer.TRUSTED.jwks());
        broker = new TestBroker(directory.resolve("data"))
                .with("listeners", "SASL_SSL://localhost:0")
                .with("sasl.enabled.mechanisms", "OAUTHBEARER")
                .with("sasl.oauthbearer.jwks.endpoint.url", jwks.toUri().toString())
                .with("sasl.oauthbearer.expected.issuer", TestIssuer.ISSUER)
                .with("sasl.oauthbearer.expected.audience", TestIssuer.AUDIENCE)
                .with("sasl.oauthbearer.clock.skew.seconds", "0")
                .with("ssl.keystore.type", "PEM")
                .with(
                        "ssl.keystore.location",
                        keys.directory().resolve("broker.pem").toString());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private void createTopicAsKafka(String token) throws Exception {
        kafkasToken = token;
        Map<String, Object> settings = new TreeMap<>(keys.client());
        settings.put("bootstrap.servers", broker.bootstrap());
        settings.put("security.protocol", "SASL_SSL");
        settings.put("sasl.mechanism", "OAUTHBEARER");
        settings.put("sasl.jaas.config", OAuthBearerLoginModule.class.getName() + " required;");
        settings.put("sasl.login.callback.handler.class", GivenToken.class.getName());
        try (Admin admin = Admin.create(settings)) {
            admin.createTopics(List.of(new NewTopic("t", 1, (short) 1))).all().get(20, TimeUnit.SECONDS);
        }
    }

    private Producer producer(SaslConfig sasl) {
        TlsConfig tls = TlsConfig.builder()
                .trustPem(keys.directory().resolve("authority.pem"))
                .build();
        return Producer.builder()
                .bootstrapServers(broker.bootstrap())
                .tls(tls)
                .sasl(sasl)
                .build();
    }

    @Test
    void shouldServeTheUserOfATokenWhenItIsValid() throws Exception {
        broker.start();

        createTopicAsKafka(TestIssuer.TRUSTED.token("ada", Instant.now().plusSeconds(60)));

        assertThat(broker.network().authentications()).isPositive();
    }

    @Test
    @Tag("CVE-2026-33557")
    void shouldRefuseKafkasClientWhenItsTokenIsForgedOrHasExpired() throws Exception {
        broker.start();

        for (String token : List.of(
                TestIssuer.FORGER.token("ada", Instant.now().plusSeconds(60)),
                TestIssuer.TRUSTED.token("ada", Instant.now().minusSeconds(1)))) {
            assertThatThrownBy(() -> createTopicAsKafka(token))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(SaslAuthenticationException.class)
                    .hasMessageNotContaining(token);
        }
    }

    /** A client that stays silent after its token has expired must not be served any longer. */
    @Test
    @Tag("CVE-2023-31007")
    void shouldLogInAgainWithANewTokenBeforeTheOldOneExpires() throws Exception {
        // given
        broker.start();
        createTopicAsKafka(TestIssuer.TRUSTED.token("ada", Instant.now().plusSeconds(60)));
        AtomicInteger tokens = new AtomicInteger();
        SaslConfig sasl = SaslConfig.oauthBearer(() -> {
            tokens.incrementAndGet();
            try {
                return TestIssuer.TRUSTED.token("ada", Instant.now().plusSeconds(4));
            } catch (GeneralSecurityException unexpected) {
                throw new IllegalStateException(unexpected);
            }
        });

        // when
        try (Producer producer = producer(sasl)) {
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (tokens.get() < 4 && System.nanoTime() < deadlineNanos) {
                producer.send(ProducerRecord.of("t", new byte[1]));
                Thread.sleep(20);
            }
        }

        // then
        assertThat(tokens.get()).isGreaterThanOrEqualTo(4);
    }

    @Test
    void shouldReportARefusedTokenWithoutShowingIt() throws Exception {
        broker.start();
        String forged = TestIssuer.FORGER.token("ada", Instant.now().plusSeconds(60));

        try (Producer producer = producer(SaslConfig.oauthBearer(() -> forged))) {
            assertThatThrownBy(() -> producer.send(ProducerRecord.of("t", new byte[1])))
                    .isInstanceOf(AuthenticationFailedException.class)
                    .hasMessageContaining("refused the token")
                    .hasMessageNotContaining(forged);
        }
        SaslConfig failing = SaslConfig.oauthBearer(() -> {
            throw new UncheckedIOException("no token today", new IOException());
        });
        try (Producer producer = producer(failing)) {
            assertThatThrownBy(() -> producer.send(ProducerRecord.of("t", new byte[1])))
                    .hasMessageContaining("no token today");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://login.example.com/keys",
                "ldap://login.example.com/keys",
                "jar:file:///keys.jar!/keys",
                "file://host/keys",
                "https:///keys",
                "https://user:secret@login.example.com/keys",
                "login.example.com"
            })
    @Tag("CVE-2025-27817")
    void shouldRefuseAnAddressOfKeysWhenItIsNeitherHttpsNorAFile(String address) {
        assertThatThrownBy(() -> broker.with("sasl.oauthbearer.jwks.endpoint.url", address)
                        .config())
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("https://host/path or file:///path");
    }

    /** A setting that names a class lets its author run code. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "sasl.login.callback.handler.class",
                "sasl.login.class",
                "sasl.server.callback.handler.class",
                "listener.name.sasl_ssl.oauthbearer.sasl.server.callback.handler.class",
                "sasl.jaas.config",
                "sasl.oauthbearer.jwt.validator.class",
                "principal.builder.class",
                "ssl.engine.factory.class",
                "security.providers"
            })
    @Tag("CVE-2025-27818")
    void shouldRefuseASettingWhenItNamesAClass(String setting) {
        assertThatThrownBy(() -> BrokerConfigLoader.load(
                        null, Map.of(), List.of(setting + "=com.sun.security.auth.module.JndiLoginModule")))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(setting.startsWith("listener") ? "listener.name" : setting);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sasl.oauthbearer.jwks.endpoint.url",
                "sasl.oauthbearer.expected.issuer",
                "sasl.oauthbearer.expected.audience"
            })
    void shouldNotStartWhenASettingOfTokensIsMissing(String setting) {
        assertThatThrownBy(() -> broker.with(setting, "").start())
                .isInstanceOf(StartException.class)
                .hasMessageContaining(setting + ": must be set");
    }

    @Test
    void shouldNotStartWhenOnlyAPlainListenerOffersTokens() {
        assertThatThrownBy(() ->
                        broker.with("listeners", "SASL_PLAINTEXT://localhost:0").start())
                .isInstanceOf(StartException.class)
                .hasMessageContaining("sasl.enabled.mechanisms")
                .hasMessageContaining("SASL_SSL");
    }
}
