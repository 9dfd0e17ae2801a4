package io.journalq.cli.shell;

import io.journalq.client.security.SaslConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How the commands log in at a broker, as options and profiles say it. Immutable.
 *
 * @param mechanism the mechanism of SASL
 * @param user null if a token says who the user is
 * @param secretFile file with the password of the user, or with the token
 */
public record SaslOptions(String mechanism, String user, Path secretFile) {
    static final String SCRAM_SHA_256 = "SCRAM-SHA-256";
    static final String SCRAM_SHA_512 = "SCRAM-SHA-512";
    static final String PLAIN = "PLAIN";
    static final String OAUTHBEARER = "OAUTHBEARER";

    private static final String MECHANISM = "sasl-mechanism";
    private static final String USER = "user";
    private static final String PASSWORD_FILE = "password-file";
    private static final String TOKEN_FILE = "token-file";

    /** Names of the properties of a profile. They are also those of the options. */
    static final List<String> PROPERTIES = List.of(MECHANISM, USER, PASSWORD_FILE, TOKEN_FILE);

    private static final List<String> OF_A_USER = List.of(MECHANISM, USER, PASSWORD_FILE);

    /** With the token in a file. */
    static SaslOptions ofToken(Path file) {
        return new SaslOptions(OAUTHBEARER, null, file);
    }

    /** The options of these properties of a profile; null if its commands do not log in. */
    static SaslOptions of(Map<String, String> properties) {
        if (properties.containsKey(TOKEN_FILE)) {
            return ofToken(Path.of(properties.get(TOKEN_FILE)));
        }
        return properties.keySet().containsAll(OF_A_USER)
                ? new SaslOptions(
                        properties.get(MECHANISM), properties.get(USER), Path.of(properties.get(PASSWORD_FILE)))
                : null;
    }

    /** The same options with an absolute path, which means the same in each directory. */
    SaslOptions absolute() {
        return new SaslOptions(mechanism, user, secretFile.toAbsolutePath().normalize());
    }

    /** The properties of a profile with these options. */
    public Map<String, String> properties() {
        Map<String, String> properties = new TreeMap<>();
        properties.put(MECHANISM, mechanism);
        if (user == null) {
            properties.put(TOKEN_FILE, secretFile.toString());
        } else {
            properties.put(USER, user);
            properties.put(PASSWORD_FILE, secretFile.toString());
        }
        return properties;
    }

    /** Reads the file. */
    SaslConfig read() {
        if (mechanism.equals(OAUTHBEARER)) {
            return readToken();
        }
        char[] password = Passwords.read(secretFile);
        try {
            return switch (mechanism) {
                case SCRAM_SHA_256 -> SaslConfig.scramSha256(user, password);
                case SCRAM_SHA_512 -> SaslConfig.scramSha512(user, password);
                case PLAIN -> SaslConfig.plain(user, password);
                default ->
                    throw new CommandFailure("there is no mechanism " + mechanism + "; the mechanisms are "
                            + String.join(", ", SCRAM_SHA_256, SCRAM_SHA_512, PLAIN, OAUTHBEARER));
            };
        } catch (IllegalArgumentException unusable) {
            throw new CommandFailure(unusable.getMessage());
        }
    }

    /** The client reads the file for each login, so that long commands use the newest token. */
    private SaslConfig readToken() {
        try {
            if (Files.readString(secretFile).isBlank()) {
                throw new CommandFailure(secretFile + " has no token");
            }
        } catch (IOException unreadable) {
            throw CommandFailure.unreadable(secretFile, unreadable);
        }
        return SaslConfig.oauthBearer(secretFile);
    }
}
