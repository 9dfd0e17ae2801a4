package io.journalq.bench.option;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ConnectionSecurity;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** How to connect to a running broker. The names are those of {@code bin/journalq}. */
public final class SecurityOptions {
    @Option(
            names = "--tls-ca",
            paramLabel = "FILE",
            description = "PEM file with the authorities that sign certificates of the broker. Encrypts connections.")
    private Path authorities;

    @Option(
            names = "--tls-cert",
            paramLabel = "FILE",
            description = "PEM file with the certificate to present to the broker, and its private key.")
    private Path certificate;

    @Option(
            names = "--user",
            paramLabel = "NAME",
            description = "Logs in as this user, by SCRAM-SHA-256. Needs --password-file.")
    private String user;

    @Option(names = "--password-file", paramLabel = "FILE", description = "File with the password of --user.")
    private Path passwordFile;

    /**
     * The options, checked.
     *
     * @param bootstrap the address of the running broker; null if a broker is started
     */
    public ConnectionSecurity security(String bootstrap) {
        if ((user == null) != (passwordFile == null)) {
            throw BenchException.wrongUsage("a login needs a user and a password", "use --user and --password-file");
        }
        if (certificate != null && authorities == null) {
            throw BenchException.wrongUsage("--tls-cert needs an encrypted connection", "use --tls-ca, too");
        }
        if (bootstrap == null && (authorities != null || user != null)) {
            throw BenchException.wrongUsage(
                    "a broker that is started here is not encrypted", "use --bootstrap, or leave these options out");
        }
        return new ConnectionSecurity(authorities, certificate, user, passwordFile);
    }
}
