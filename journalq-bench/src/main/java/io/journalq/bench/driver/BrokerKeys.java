package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The key of a broker on this machine (ECDSA, P-256) with a certificate that it has signed itself, and the password of
 * its user {@value #USER}. Both exist as long as the benchmark runs.
 */
final class BrokerKeys {
    static final String USER = "bench";

    /** Of the key file and of the user. */
    static final String PASSWORD = "only-for-the-benchmark";

    private final Path directory;

    /** Makes the files. */
    BrokerKeys(Path directory) {
        this.directory = directory;
        try {
            Files.createDirectories(directory);
            Files.writeString(passwordFile(), PASSWORD);
        } catch (IOException e) {
            throw new BenchException("cannot write " + directory, "check the temporary directory", e);
        }
        keytool(
                "-genkeypair",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-dname",
                "CN=broker",
                "-ext",
                "san=dns:localhost,ip:127.0.0.1",
                "-storetype",
                "PKCS12");
        keytool("-exportcert", "-rfc", "-file", authority().toString());
    }

    /** PKCS12, with the password of {@link #passwordFile}. */
    Path keystore() {
        return directory.resolve("broker.p12");
    }

    Path passwordFile() {
        return directory.resolve("password");
    }

    /** PEM, for clients. */
    Path authority() {
        return directory.resolve("authority.pem");
    }

    private void keytool(String... options) {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/keytool");
        command.addAll(List.of(options));
        command.addAll(List.of(
                "-keystore",
                keystore().toString(),
                "-storepass:file",
                passwordFile().toString()));
        try {
            Process keytool =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (keytool.waitFor() != 0) {
                throw new BenchException("keytool cannot make keys: " + output.strip(), "check the JDK");
            }
        } catch (IOException e) {
            throw new BenchException("cannot run keytool", "use a JDK", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run the benchmark again", e);
        }
    }
}
