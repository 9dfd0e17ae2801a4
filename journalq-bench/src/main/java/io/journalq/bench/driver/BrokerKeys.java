package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The keys of a broker on this machine (ECDSA P-256, and RSA with 2,048 bits) with certificates that it has signed itself,
 * and the password of its user {@value #USER}. All exist as long as the benchmark runs.
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
        String certificates = make(keystore(), "-keyalg", "EC", "-groupname", "secp256r1")
                + make(rsaKeystore(), "-keyalg", "RSA", "-keysize", "2048");
        try {
            Files.writeString(authority(), certificates);
        } catch (IOException e) {
            throw new BenchException("cannot write " + directory, "check the temporary directory", e);
        }
    }

    /** Makes a key, and returns its certificate. */
    private String make(Path keystore, String... kind) {
        List<String> generate = new ArrayList<>(List.of("-genkeypair"));
        generate.addAll(List.of(kind));
        generate.addAll(
                List.of("-dname", "CN=broker", "-ext", "san=dns:localhost,ip:127.0.0.1", "-storetype", "PKCS12"));
        keytool(keystore, generate);
        return keytool(keystore, List.of("-exportcert", "-rfc"));
    }

    /** PKCS12 with the key ECDSA, with the password of {@link #passwordFile}. */
    Path keystore() {
        return directory.resolve("broker.p12");
    }

    /** As {@link #keystore}, with the key RSA. */
    Path rsaKeystore() {
        return directory.resolve("broker-rsa.p12");
    }

    Path passwordFile() {
        return directory.resolve("password");
    }

    /** PEM, for clients. */
    Path authority() {
        return directory.resolve("authority.pem");
    }

    /** Returns what it prints. */
    private String keytool(Path keystore, List<String> options) {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/keytool");
        command.addAll(options);
        command.addAll(List.of(
                "-keystore",
                keystore.toString(),
                "-storepass:file",
                passwordFile().toString()));
        try {
            Process keytool =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (keytool.waitFor() != 0) {
                throw new BenchException("keytool cannot make keys: " + output.strip(), "check the JDK");
            }
            return output;
        } catch (IOException e) {
            throw new BenchException("cannot run keytool", "use a JDK", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run the benchmark again", e);
        }
    }
}
