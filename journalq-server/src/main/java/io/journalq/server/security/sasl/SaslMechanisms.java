package io.journalq.server.security.sasl;

import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.security.token.TokenValidator;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;

/** The mechanisms by which clients of a listener can prove who they are. Any thread. */
public final class SaslMechanisms {
    /** The mechanism that sends the password itself. Only for encrypted listeners. */
    public static final String PLAIN = "PLAIN";

    /** The mechanism that sends a token. Only for encrypted listeners. */
    public static final String OAUTHBEARER = "OAUTHBEARER";

    private static final int NONCE_SIZE_BYTES = 18;

    private final List<String> names;
    private final ScramUsers users;
    private final PasswordCheck passwords;
    private final TokenValidator tokens;
    private final SecureRandom random;

    /**
     * Creates the mechanisms of a listener.
     *
     * @param names of the mechanisms, in the order of preference
     * @param passwords checks the passwords of PLAIN
     * @param tokens checks the tokens of OAUTHBEARER; null if that is not among the mechanisms
     */
    public SaslMechanisms(
            List<String> names, ScramUsers users, PasswordCheck passwords, TokenValidator tokens, SecureRandom random) {
        this.names = List.copyOf(names);
        this.users = users;
        this.passwords = passwords;
        this.tokens = tokens;
        this.random = random;
    }

    /** The names of the mechanisms. */
    public List<String> names() {
        return names;
    }

    /** Begins an exchange; null if the listener does not offer the mechanism. */
    public SaslExchange begin(String mechanism) {
        if (!names.contains(mechanism)) {
            return null;
        }
        return switch (mechanism) {
            case PLAIN -> new PlainServer(passwords);
            case OAUTHBEARER -> new OAuthServer(tokens);
            default -> new ScramServer(ScramMechanism.of(mechanism), users, this::newNonce);
        };
    }

    private String newNonce() {
        byte[] bytes = new byte[NONCE_SIZE_BYTES];
        random.nextBytes(bytes);
        return Base64.getEncoder().encodeToString(bytes);
    }
}
