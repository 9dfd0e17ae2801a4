package io.journalq.cli.shell;

import io.journalq.client.security.SaslConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How the commands log in at a broker, as options and profiles say it. Immutable.
 *
 * @param mechanism the mechanism of SASL
 * @param passwordFile file with the password of the user
 */
public record SaslOptions(String mechanism, String user, Path passwordFile) {
    static final String SCRAM_SHA_256 = "SCRAM-SHA-256";
    static final String SCRAM_SHA_512 = "SCRAM-SHA-512";
    static final String PLAIN = "PLAIN";

    private static final String MECHANISM = "sasl-mechanism";
    private static final String USER = "user";
    private static final String PASSWORD_FILE = "password-file";

    /** Names of the properties of a profile. They are also those of the options. */
    static final List<String> PROPERTIES = List.of(MECHANISM, USER, PASSWORD_FILE);

    /** The options of these properties of a profile; null if its commands do not log in. */
    static SaslOptions of(Map<String, String> properties) {
        return properties.keySet().containsAll(PROPERTIES)
                ? new SaslOptions(
                        properties.get(MECHANISM), properties.get(USER), Path.of(properties.get(PASSWORD_FILE)))
                : null;
    }

    /** The same options with an absolute path, which means the same in each directory. */
    SaslOptions absolute() {
        return new SaslOptions(mechanism, user, passwordFile.toAbsolutePath().normalize());
    }

    /** The properties of a profile with these options. */
    public Map<String, String> properties() {
        Map<String, String> properties = new TreeMap<>();
        properties.put(MECHANISM, mechanism);
        properties.put(USER, user);
        properties.put(PASSWORD_FILE, passwordFile.toString());
        return properties;
    }

    /** Reads the file. */
    SaslConfig read() {
        char[] password = Passwords.read(passwordFile);
        try {
            return switch (mechanism) {
                case SCRAM_SHA_256 -> SaslConfig.scramSha256(user, password);
                case SCRAM_SHA_512 -> SaslConfig.scramSha512(user, password);
                case PLAIN -> SaslConfig.plain(user, password);
                default ->
                    throw new CommandFailure("there is no mechanism " + mechanism + "; the mechanisms are "
                            + String.join(", ", SCRAM_SHA_256, SCRAM_SHA_512, PLAIN));
            };
        } catch (IllegalArgumentException unusable) {
            throw new CommandFailure(unusable.getMessage());
        }
    }
}
