package io.journalq.cli.shell;

import io.journalq.client.security.TlsConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How the connections to a broker are encrypted, as options and profiles say it. Immutable.
 *
 * @param authorities PEM file of trusted authorities; null for those of Java
 * @param certificate PEM file with the certificate that the commands present; null for none
 * @param key PEM file with the private key of the certificate; null if the file of the certificate contains it
 * @param keyPasswordFile file with the password of the private key; null if it has none
 */
public record TlsOptions(Path authorities, Path certificate, Path key, Path keyPasswordFile) {
    private static final String TLS = "tls";
    private static final String AUTHORITIES = "tls-ca";
    private static final String CERTIFICATE = "tls-cert";
    private static final String KEY = "tls-key";
    private static final String KEY_PASSWORD_FILE = "tls-key-password-file";

    /** Names of the properties of a profile. They are also those of the options. */
    static final List<String> PROPERTIES = List.of(TLS, AUTHORITIES, CERTIFICATE, KEY, KEY_PASSWORD_FILE);

    /** The options of these properties of a profile; null if its connections are not encrypted. */
    static TlsOptions of(Map<String, String> properties) {
        return properties.containsKey(TLS)
                ? new TlsOptions(
                        path(properties.get(AUTHORITIES)),
                        path(properties.get(CERTIFICATE)),
                        path(properties.get(KEY)),
                        path(properties.get(KEY_PASSWORD_FILE)))
                : null;
    }

    private static Path path(String text) {
        return text == null ? null : Path.of(text);
    }

    /** The same options with absolute paths, which mean the same in each directory. */
    TlsOptions absolute() {
        return new TlsOptions(absolute(authorities), absolute(certificate), absolute(key), absolute(keyPasswordFile));
    }

    private static Path absolute(Path file) {
        return file == null ? null : file.toAbsolutePath().normalize();
    }

    /** The properties of a profile with these options. */
    public Map<String, String> properties() {
        Map<String, String> properties = new TreeMap<>();
        properties.put(TLS, "true");
        put(properties, AUTHORITIES, authorities);
        put(properties, CERTIFICATE, certificate);
        put(properties, KEY, key);
        put(properties, KEY_PASSWORD_FILE, keyPasswordFile);
        return properties;
    }

    private static void put(Map<String, String> properties, String name, Path file) {
        if (file != null) {
            properties.put(name, file.toString());
        }
    }

    /** Reads the files. */
    TlsConfig read() {
        try {
            TlsConfig.Builder builder = TlsConfig.builder();
            if (authorities != null) {
                builder.trustPem(authorities);
            }
            if (certificate != null) {
                builder.keyPem(certificate, key == null ? certificate : key, keyPassword());
            }
            return builder.build();
        } catch (IllegalArgumentException unusable) {
            throw new CommandFailure(unusable.getMessage());
        }
    }

    private char[] keyPassword() {
        return keyPasswordFile == null ? null : Passwords.read(keyPasswordFile);
    }
}
