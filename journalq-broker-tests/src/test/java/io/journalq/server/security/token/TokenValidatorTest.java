package io.journalq.server.security.token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.journalq.server.security.token.TokenValidator.Owner;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which tokens are accepted, and how the keys are read. */
class TokenValidatorTest {
    private static final Instant NOW = Instant.parse("2026-11-24T20:00:00Z");
    private static final String ES256 = "{\"alg\":\"ES256\",\"kid\":\"ES256\"}";

    @TempDir
    private Path directory;

    private final AtomicLong nanos = new AtomicLong();
    private final TestIssuer issuer = TestIssuer.TRUSTED;
    private Path file;
    private JwksSource source;
    private TokenValidator validator;

    @BeforeEach
    void open() throws Exception {
        file = Files.writeString(directory.resolve("jwks.json"), issuer.jwks());
        source = JwksSource.open(file.toUri(), null, nanos::get);
        validator = validator(source);
    }

    private static TokenValidator validator(JwksSource keys) {
        return validator(keys, Runnable::run);
    }

    private static TokenValidator validator(JwksSource keys, Executor checks) {
        TokenRules rules = new TokenRules(
                URI.create("file:///unused"), TestIssuer.ISSUER, Set.of(TestIssuer.AUDIENCE), "sub", 30_000);
        return new TokenValidator(rules, keys, checks, Clock.fixed(NOW, ZoneOffset.UTC));
    }

    @AfterEach
    void close() {
        source.close();
    }

    private static String claims() {
        return TestIssuer.claims("ada", NOW.plusSeconds(60));
    }

    /** The owner of a token; null if it is refused. */
    private Owner check(String token) throws Exception {
        return check(validator, token);
    }

    private static Owner check(TokenValidator validator, String token) throws Exception {
        Owner owner = validator.check(token).toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertThat(owner.user() == null).isEqualTo(owner.refusal() != null);
        return owner.refusal() == null ? owner : null;
    }

    private String refusal(String token) throws Exception {
        return validator
                .check(token)
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS)
                .refusal();
    }

    @Test
    void shouldSayWhyATokenIsRefusedForTheAuditLog() throws Exception {
        assertThat(refusal(TestIssuer.FORGER.token("ES256", claims()))).isEqualTo("no known key has signed the token");
        assertThat(refusal(issuer.token("ES256", TestIssuer.claims("ada", NOW.minusSeconds(30)))))
                .isEqualTo("the token has expired");
        assertThat(refusal("canary")).isEqualTo("the token does not have three parts");
    }

    @Test
    void shouldRejectACheckAtOnceWhenTooManyWait() throws Exception {
        TokenValidator full = validator(source, check -> {
            throw new RejectedExecutionException("full");
        });
        String token = issuer.token("ES256", claims());

        assertThatThrownBy(() -> full.check(token)).isInstanceOf(RejectedExecutionException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"RS256", "PS256", "ES256", "EdDSA"})
    void shouldAcceptATokenWhenTheProviderHasSignedIt(String algorithm) throws Exception {
        assertThat(check(issuer.token(algorithm, claims()))).isEqualTo(new Owner("ada", 90_000, null));
    }

    /** A signature that was made for other claims, another key, or by somebody who only knows the public keys. */
    @ParameterizedTest
    @ValueSource(strings = {"RS256", "PS256", "ES256", "EdDSA"})
    @Tag("CVE-2026-33557")
    @Tag("CVE-2026-110985")
    void shouldRefuseATokenWhenItIsForged(String algorithm) throws Exception {
        String genuine = issuer.token(algorithm, claims());
        String[] parts = genuine.split("\\.", -1);
        String forged = TestIssuer.encode(claims().replace("ada", "root"));
        byte[] zeros = new byte[64];

        assertThat(check(genuine)).isNotNull();
        assertThat(check(parts[0] + "." + forged + "." + parts[2]))
                .as("other claims")
                .isNull();
        assertThat(check(parts[0] + "." + parts[1] + ".")).as("no signature").isNull();
        assertThat(check(parts[0] + "." + parts[1] + "." + TestIssuer.encode(zeros)))
                .as("zeros")
                .isNull();
        assertThat(check(TestIssuer.FORGER.token(algorithm, claims())))
                .as("another key with the same id")
                .isNull();
        for (String other : new String[] {"RS256", "PS256", "ES256", "EdDSA"}) {
            if (!other.equals(algorithm)) {
                assertThat(check(issuer.token(
                                algorithm,
                                "{\"alg\":\"" + other + "\",\"kid\":\"" + TestIssuer.keyId(algorithm) + "\"}",
                                claims())))
                        .as("said to be of " + other)
                        .isNull();
            }
        }
    }

    @Test
    @Tag("CVE-2026-33557")
    void shouldRefuseATokenWhenItsAlgorithmNeedsNoPrivateKey() throws Exception {
        for (String algorithm : new String[] {"none", "None", "HS256", "HS512", ""}) {
            String head = TestIssuer.encode("{\"alg\":\"" + algorithm + "\",\"kid\":\"RS256\"}");
            String signed = head + "." + TestIssuer.encode(claims());
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(issuer.key("RS256").getPublic().getEncoded(), "HmacSHA256"));
            String signature = TestIssuer.encode(mac.doFinal(signed.getBytes(StandardCharsets.US_ASCII)));

            assertThat(check(signed + "." + signature)).as(algorithm).isNull();
            assertThat(check(signed + ".")).as(algorithm).isNull();
        }
    }

    @Test
    @Tag("CVE-2023-31007")
    void shouldRefuseATokenWhenItHasExpiredOrIsNotValidYet() throws Exception {
        String late = "\"exp\":" + NOW.plusSeconds(60).getEpochSecond();

        assertThat(check(issuer.token("ES256", TestIssuer.claims("ada", NOW.minusSeconds(29)))))
                .as("within the skew")
                .isNotNull();
        assertThat(check(issuer.token("ES256", TestIssuer.claims("ada", NOW.minusSeconds(30)))))
                .isNull();
        for (String end : new String[] {
            "\"x\":1", "\"exp\":\"99999999999\"", "\"exp\":null", "\"exp\":1e999", "\"exp\":-1", "\"exp\":true"
        }) {
            assertThat(check(issuer.token("ES256", claims().replace(late, end))))
                    .as(end)
                    .isNull();
        }
        long soon = NOW.plusSeconds(31).getEpochSecond();
        assertThat(check(issuer.token("ES256", claims().replace(late, late + ",\"nbf\":" + soon))))
                .isNull();
        assertThat(check(issuer.token("ES256", claims().replace(late, late + ",\"nbf\":" + (soon - 1)))))
                .isNotNull();
    }

    @Test
    void shouldRefuseATokenWhenItIsOfAnotherIssuerOrForAnotherAudienceOrNobody() throws Exception {
        for (String[] change : new String[][] {
            {TestIssuer.ISSUER, TestIssuer.ISSUER + "/"},
            {"\"iss\"", "\"issuer\""},
            {"\"" + TestIssuer.AUDIENCE + "\"", "\"another\""},
            {"\"aud\"", "\"audience\""},
            {"\"sub\":\"ada\"", "\"sub\":\"\""},
            {"\"sub\":\"ada\"", "\"sub\":7"},
            {"\"sub\":\"ada\"", "\"sub\":\"a\\nb\""},
            {"\"sub\":\"ada\"", "\"sub\":\"ada\",\"sub\":\"root\""},
            {"\"sub\":\"ada\",", ""}
        }) {
            String changed = claims().replace(change[0], change[1]);
            assertThat(changed).isNotEqualTo(claims());
            assertThat(check(issuer.token("ES256", changed))).as(changed).isNull();
        }
        assertThat(check(issuer.token("ES256", claims().replace("[\"other\",\"journalq\"]", "\"journalq\""))))
                .as("one audience")
                .isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"alg\":\"ES256\"}",
                "{\"alg\":\"ES256\",\"kid\":\"\"}",
                "{\"alg\":\"ES256\",\"kid\":\"ES256\",\"crit\":[\"exp\"]}",
                "{\"alg\":\"ES256\",\"kid\":\"ES256\",\"b64\":false}",
                "{\"alg\":\"ES256\",\"alg\":\"ES256\",\"kid\":\"ES256\"}",
                "[]",
                "{\"alg\":\"ES256\",\"kid\":\"ES256\"} {}"
            })
    void shouldRefuseATokenWhenItsHeaderIsUnusual(String header) throws Exception {
        assertThat(check(issuer.token("ES256", header, claims()))).isNull();
    }

    @Test
    void shouldRefuseATokenWhenItIsMalformed() throws Exception {
        String genuine = issuer.token("ES256", ES256, claims());
        for (String token : new String[] {
            "", ".", "..", "...", "a.b.c", genuine + ".x", genuine + "=", "x" + genuine, "*".repeat(20_000)
        }) {
            assertThat(check(token)).isNull();
        }
    }

    @Test
    void shouldReadTheKeysAgainAtMostOnceAMinuteWhenATokenNamesAnUnknownOne() throws Exception {
        // given
        String token = issuer.token("ES256", "{\"alg\":\"ES256\",\"kid\":\"new\"}", claims());
        Files.writeString(file, issuer.jwks().replace("\"kid\":\"ES256\"", "\"kid\":\"new\""));

        // then
        assertThat(check(token)).as("within the first minute").isNull();
        nanos.addAndGet(JwksSource.MIN_INTERVAL_NANOS);
        assertThat(check(token)).isNotNull();
        Files.delete(file);
        nanos.addAndGet(JwksSource.MIN_INTERVAL_NANOS);
        assertThat(check(issuer.token("ES256", claims()))).as("an old key").isNull();
        assertThat(check(token)).as("the keys stay when the file is gone").isNotNull();
    }

    @Test
    void shouldReadTheKeysOverHttpsFromATrustedProviderOnly() throws Exception {
        // given
        X509Bundle authority = new CertificateBuilder()
                .subject("CN=authority")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        X509Bundle keys = new CertificateBuilder()
                .subject("CN=provider")
                .addSanDnsName("localhost")
                .buildIssuedBy(authority);
        SSLContext ofProvider = SSLContext.getInstance("TLS");
        ofProvider.init(keys.toKeyManagerFactory().getKeyManagers(), null, null);
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, authority.toTrustManagerFactory().getTrustManagers(), null);
        AtomicInteger requests = new AtomicInteger();
        HttpsServer provider = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.setHttpsConfigurator(new HttpsConfigurator(ofProvider));
        provider.createContext("/keys", exchange -> {
            requests.incrementAndGet();
            byte[] body = issuer.jwks().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        provider.createContext("/moved", exchange -> {
            exchange.getResponseHeaders().set("Location", "/keys");
            exchange.sendResponseHeaders(302, -1);
            exchange.close();
        });
        provider.start();
        try {
            String host = "https://localhost:" + provider.getAddress().getPort();
            String token = issuer.token("ES256", claims());

            // then
            try (JwksSource https = JwksSource.open(URI.create(host + "/keys"), trusting, nanos::get)) {
                assertThat(check(validator(https), token)).isNotNull();
            }
            int read = requests.get();
            for (String path : new String[] {"/moved", "/nothing"}) {
                try (JwksSource other = JwksSource.open(URI.create(host + path), trusting, nanos::get)) {
                    assertThat(check(validator(other), token)).as(path).isNull();
                }
            }
            try (JwksSource untrusted = JwksSource.open(URI.create(host + "/keys"), null, nanos::get)) {
                assertThat(check(validator(untrusted), token))
                        .as("the authority is not one of Java")
                        .isNull();
            }
            assertThat(requests).hasValue(read);
        } finally {
            provider.stop(0);
        }
    }

    @Test
    void shouldGiveUpWhenTheProviderStopsInTheMiddleOfItsKeys() throws Exception {
        // given
        X509Bundle authority = new CertificateBuilder()
                .subject("CN=authority")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        X509Bundle keys = new CertificateBuilder()
                .subject("CN=provider")
                .addSanDnsName("localhost")
                .buildIssuedBy(authority);
        SSLContext ofProvider = SSLContext.getInstance("TLS");
        ofProvider.init(keys.toKeyManagerFactory().getKeyManagers(), null, null);
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, authority.toTrustManagerFactory().getTrustManagers(), null);
        HttpsServer provider = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.setHttpsConfigurator(new HttpsConfigurator(ofProvider));
        CountDownLatch end = new CountDownLatch(1);
        provider.createContext("/keys", exchange -> {
            byte[] body = issuer.jwks().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body, 0, 10);
            exchange.getResponseBody().flush();
            try {
                end.await();
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
            exchange.close();
        });
        provider.start();
        URI address = URI.create("https://localhost:" + provider.getAddress().getPort() + "/keys");

        // when, as the broker does when it starts
        var opened = CompletableFuture.supplyAsync(() -> {
            try {
                return JwksSource.open(address, trusting, nanos::get);
            } catch (IOException unexpected) {
                throw new UncheckedIOException(unexpected);
            }
        });

        // then
        try {
            opened.get(25, TimeUnit.SECONDS).close();
        } finally {
            end.countDown();
            provider.stop(0);
        }
    }

    @Test
    void shouldRefuseAKeySetWhenItIsUnusable() {
        for (String set : new String[] {
            "",
            "{}",
            "{\"keys\":[]}",
            "{\"keys\":7}",
            "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"a\",\"k\":\"AAAA\"}]}",
            "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"a\",\"x\":\"*\",\"y\":\"AA\"}]}",
            "[".repeat(10_000),
            " ".repeat(JwksKeys.MAX_SIZE_BYTES + 1)
        }) {
            assertThatThrownBy(() -> JwksKeys.parse(set.getBytes(StandardCharsets.UTF_8)))
                    .isInstanceOf(IOException.class);
        }
        assertThatThrownBy(() -> JwksSource.open(directory.resolve("missing").toUri()))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("sasl.oauthbearer.jwks.endpoint.url: cannot use file:");
    }
}
