package io.journalq.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.cli.shell.ExitCode;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands that log in with a token (OAUTHBEARER). */
class TokenFileTest {
    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();
    private static final int COORDINATE_BYTES = 32;

    @TempDir
    private Path directory;

    private KeyPair issuer;
    private EmbeddedBroker broker;

    @BeforeEach
    void start() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        issuer = generator.generateKeyPair();
        ECPublicKey key = (ECPublicKey) issuer.getPublic();
        Path keys = write(
                "keys.json",
                "{\"keys\":[{\"kid\":\"1\",\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\""
                        + coordinate(key.getW().getAffineX()) + "\",\"y\":\""
                        + coordinate(key.getW().getAffineY()) + "\"}]}");
        X509Bundle authority = new CertificateBuilder()
                .subject("CN=authority")
                .ecp256()
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        write("authority.pem", authority.getCertificatePEM());
        X509Bundle certificate = new CertificateBuilder()
                .subject("CN=broker")
                .ecp256()
                .addSanIpAddress("127.0.0.1")
                .buildIssuedBy(authority);
        Path brokerKeys = write("broker.pem", certificate.getPrivateKeyPEM() + certificate.getCertificatePathPEM());
        broker = JournalQ.embedded()
                .inMemory()
                .set("listeners", "SASL_SSL://127.0.0.1:0")
                .set("sasl.enabled.mechanisms", "OAUTHBEARER")
                .set("sasl.oauthbearer.jwks.endpoint.url", keys.toUri().toString())
                .set("sasl.oauthbearer.expected.issuer", "https://login.example.com")
                .set("sasl.oauthbearer.expected.audience", "journalq")
                .set("ssl.keystore.type", "PEM")
                .set("ssl.keystore.location", brokerKeys.toString())
                .start();
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private Path write(String name, String content) throws Exception {
        return Files.writeString(directory.resolve(name), content);
    }

    private static String coordinate(BigInteger value) {
        byte[] signed = value.toByteArray();
        byte[] bytes = new byte[COORDINATE_BYTES];
        int copied = Math.min(signed.length, COORDINATE_BYTES);
        System.arraycopy(signed, signed.length - copied, bytes, COORDINATE_BYTES - copied, copied);
        return BASE64.encodeToString(bytes);
    }

    private String token(Instant end) throws Exception {
        String head = "{\"alg\":\"ES256\",\"kid\":\"1\"}";
        String claims = "{\"iss\":\"https://login.example.com\",\"aud\":\"journalq\",\"sub\":\"ada\",\"exp\":"
                + end.getEpochSecond() + "}";
        String signed = BASE64.encodeToString(head.getBytes(StandardCharsets.UTF_8)) + "."
                + BASE64.encodeToString(claims.getBytes(StandardCharsets.UTF_8));
        Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
        signature.initSign(issuer.getPrivate());
        signature.update(signed.getBytes(StandardCharsets.US_ASCII));
        return signed + "." + BASE64.encodeToString(signature.sign());
    }

    private CommandRun run(String... words) {
        Map<String, String> user = Map.of("XDG_CONFIG_HOME", directory.toString());
        return CommandRun.journalq("", user, words);
    }

    private CommandRun list(String... options) {
        String[] words = {"topics", "list", "--bootstrap", broker.bootstrapServers()};
        String[] all = Arrays.copyOf(words, words.length + options.length);
        System.arraycopy(options, 0, all, words.length, options.length);
        return run(all);
    }

    private String authority() {
        return directory.resolve("authority.pem").toString();
    }

    @Test
    void shouldLogInWithATokenWhenAnOptionOrAProfileNamesItsFile() throws Exception {
        Path file = write("token", token(Instant.now().plusSeconds(300)) + "\n");

        CommandRun listed = list("--tls-ca", authority(), "--token-file", file.toString());
        assertThat(listed.exitCode()).as(listed.err()).isZero();

        // and by a profile
        String address = broker.bootstrapServers();
        run("profile", "add", "p", "--bootstrap", address, "--tls-ca", authority(), "--token-file", file.toString());
        CommandRun byProfile = run("topics", "list", "--profile", "p");
        assertThat(byProfile.exitCode()).as(byProfile.err()).isZero();
        assertThat(run("profile", "list").out()).contains("of a token");
        assertThat(run("profile", "list", "--output", "json").out())
                .contains("OAUTHBEARER")
                .contains(file.toString());
    }

    @Test
    void shouldSayWhatToCheckWhenTheTokenIsRefused() throws Exception {
        String expired = token(Instant.now().minusSeconds(300));
        Path file = write("token", expired);

        CommandRun refused = list("--tls-ca", authority(), "--token-file", file.toString());

        assertThat(refused.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(refused.err()).contains("--token-file").doesNotContain(expired);
    }

    @Test
    void shouldNameTheMistakeWhenTheOptionsCannotBeUsed() throws Exception {
        Path file = write("token", "abc");
        String path = file.toString();

        assertUsage(list("--token-file", path), "--token-file sends the token, and needs --tls or --tls-ca");
        assertUsage(
                list("--tls-ca", authority(), "--token-file", path, "--user", "ada"),
                "--token-file says who the user is");
        assertUsage(
                list("--user", "ada", "--password-file", path, "--sasl-mechanism", "OAUTHBEARER"),
                "--sasl-mechanism OAUTHBEARER has no password; use --token-file");
        assertThat(list("--tls-ca", authority(), "--token-file", path + "s").err())
                .contains("cannot find " + path + "s");
        Files.writeString(file, "\n");
        assertThat(list("--tls-ca", authority(), "--token-file", path).err()).contains(path + " has no token");
    }

    private static void assertUsage(CommandRun run, String message) {
        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains(message);
    }
}
