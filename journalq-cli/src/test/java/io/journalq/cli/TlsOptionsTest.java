package io.journalq.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.cli.shell.ExitCode;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands at a broker that encrypts and requires certificates. */
class TlsOptionsTest {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    @TempDir
    private Path directory;

    private EmbeddedBroker broker;
    private String address;

    @BeforeEach
    void start() throws Exception {
        X509Bundle authority = authority("CN=authority");
        write("authority.pem", authority.getCertificatePEM());
        write("stranger.pem", authority("CN=stranger").getCertificatePEM());
        X509Bundle keys = certificate("CN=broker").addSanIpAddress("127.0.0.1").buildIssuedBy(authority);
        write("broker.pem", keys.getPrivateKeyPEM() + keys.getCertificatePathPEM());
        X509Bundle ada = certificate("CN=ada").buildIssuedBy(authority);
        write("ada.crt", ada.getCertificatePathPEM());
        write("ada.key", ada.getPrivateKeyPEM());
        broker = JournalQ.embedded()
                .inMemory()
                .set("listeners", "SSL://127.0.0.1:0")
                .set("ssl.keystore.type", "PEM")
                .set("ssl.keystore.location", file("broker.pem"))
                .set("ssl.client.auth", "required")
                .set("ssl.truststore.type", "PEM")
                .set("ssl.truststore.location", file("authority.pem"))
                .start();
        address = broker.bootstrapServers();
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldConnectWhenTheOptionsOrAProfileNameTheFiles() {
        Map<String, String> user = Map.of("XDG_CONFIG_HOME", directory.toString());
        String[] tls = {"--tls-ca", file("authority.pem"), "--tls-cert", file("ada.crt"), "--tls-key", file("ada.key")};

        assertDone(run(user, words("topics create orders --bootstrap " + address, tls)));
        CommandRun added = run(user, words("profile add secure --bootstrap " + address, tls));
        assertThat(added.out()).isEqualTo("added profile secure: " + address + "\n");
        run(user, "profile", "add", "plain", "--bootstrap", "localhost:1");

        CommandRun produced = CommandRun.journalq("hello\n", user, "produce", "orders", "--profile", "secure");
        assertDone(produced);
        CommandRun consumed =
                run(user, words("consume orders --from beginning --until end --profile secure", new String[0]));
        assertDone(consumed);
        assertThat(consumed.out()).contains("hello");
        assertThat(run(user, "profile", "list").outLines())
                .containsExactly(
                        "PROFILE  BOOTSTRAP" + " ".repeat(address.length() - "BOOTSTRAP".length())
                                + "  TLS               USER",
                        "plain    localhost:1" + " ".repeat(address.length() - "localhost:1".length())
                                + "  no                no",
                        "secure   " + address + "  with certificate  no");
        assertThat(run(user, "profile", "list", "--output", "json").out()).contains(file("ada.key"));
        assertThat(run(user, "topics", "list", "--profile", "secure", "--tls").err())
                .contains("a profile and options for TLS or the login are mutually exclusive");
    }

    @Test
    void shouldSayWhatToDoWhenTheHandshakeFails() {
        assertThat(failure("--tls-ca", file("stranger.pem")))
                .startsWith(
                        "journalq: " + address + " presents a certificate that is not signed by a trusted authority")
                .contains("--tls-ca");
        assertThat(failure("--tls-ca", file("authority.pem")))
                .startsWith("journalq: " + address + " rejected the certificate of this client, or requires one")
                .contains("--tls-cert");
        assertThat(failure()).contains("TLS").contains("--tls-ca");
    }

    @Test
    void shouldSayThatTheListenerIsPlainWhenOnlyTheCommandEncrypts() {
        try (EmbeddedBroker plain = JournalQ.embedded().inMemory().start()) {
            address = plain.bootstrapServers();
            assertThat(failure("--tls-ca", file("authority.pem")))
                    .startsWith("journalq: " + address + " closed the connection during the TLS handshake")
                    .contains("security protocol SSL");
        }
    }

    @Test
    void shouldNameTheFileWhenItCannotBeUsed() {
        assertThat(failure("--tls-ca", file("missing.pem"))).isEqualTo("journalq: cannot find " + file("missing.pem"));
        assertThat(failure("--tls-ca", file("ada.key")))
                .contains(file("ada.key"))
                .contains("no trusted certificate");
        CommandRun keyOnly = CommandRun.journalq("topics", "list", "--tls-key", file("ada.key"));
        assertThat(keyOnly.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(keyOnly.err()).contains("--tls-key needs --tls-cert");
    }

    private String failure(String... options) {
        long startNs = System.nanoTime();
        CommandRun run = CommandRun.journalq(words("topics list --bootstrap " + address, options));
        assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(LIMIT);
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.FAILED);
        assertThat(run.errLines()).hasSize(1);
        return run.errLines().get(0);
    }

    private static CommandRun run(Map<String, String> environment, String... words) {
        return CommandRun.journalq("", environment, words);
    }

    private static void assertDone(CommandRun run) {
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
    }

    private static String[] words(String command, String[] options) {
        String[] first = command.split(" ", -1);
        String[] all = java.util.Arrays.copyOf(first, first.length + options.length);
        System.arraycopy(options, 0, all, first.length, options.length);
        return all;
    }

    private static X509Bundle authority(String subject) throws Exception {
        return certificate(subject).setIsCertificateAuthority(true).buildSelfSigned();
    }

    private static CertificateBuilder certificate(String subject) {
        return new CertificateBuilder().subject(subject);
    }

    private String file(String name) {
        return directory.resolve(name).toString();
    }

    private void write(String name, String content) throws IOException {
        Files.writeString(directory.resolve(name), content);
    }
}
