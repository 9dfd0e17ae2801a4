package io.journalq.client.internal.network;

import io.journalq.client.security.SaslConfig;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.common.sasl.ScramMessages;
import io.journalq.common.sasl.ScramMessages.ClientFinal;
import io.journalq.common.sasl.ScramMessages.ClientFirst;
import io.journalq.common.sasl.ScramMessages.ServerFirst;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.regex.Pattern;

/**
 * The side of the client in one login: the messages of a mechanism, in order. One thread.
 *
 * <p>Sources: RFC 5802, RFC 4616, RFC 7628.
 */
final class SaslLogin {
    private static final int NONCE_SIZE_BYTES = 18;
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/=-]+");
    private static final SecureRandom RANDOM = new SecureRandom();

    private final SaslConfig config;
    /** Null for PLAIN and OAUTHBEARER. */
    private final ScramMechanism scram;
    /** Null before the first message of SCRAM. */
    private ClientFirst first;
    /** Null before the challenge of SCRAM. */
    private byte[] expectedSignature;

    private boolean complete;

    /** The broker has broken the rules of the mechanism, or has not proven that it knows the user. */
    static final class LoginException extends Exception {
        private static final long serialVersionUID = 1L;

        LoginException(String message) {
            super(message);
        }
    }

    SaslLogin(SaslConfig config) {
        this.config = config;
        this.scram = ScramMechanism.of(config.mechanism());
    }

    /** The first message of the client. */
    byte[] begin() throws LoginException {
        if (scram == null) {
            complete = true;
            return config.user() == null ? bearer() : plain();
        }
        byte[] nonce = new byte[NONCE_SIZE_BYTES];
        RANDOM.nextBytes(nonce);
        first = ClientFirst.of(config.user(), Base64.getEncoder().encodeToString(nonce));
        return utf8(first.text());
    }

    private byte[] bearer() throws LoginException {
        String token;
        try {
            token = config.token();
        } catch (RuntimeException none) {
            throw new LoginException("got no token (" + none.getMessage() + ")");
        }
        if (token == null || !TOKEN.matcher(token).matches()) {
            throw new LoginException("got no token, but other characters");
        }
        return utf8("n,,\u0001auth=Bearer " + token + "\u0001\u0001");
    }

    private byte[] plain() {
        byte[] user = utf8(config.user());
        byte[] password = config.password();
        byte[] message = new byte[2 + user.length + password.length];
        System.arraycopy(user, 0, message, 1, user.length);
        System.arraycopy(password, 0, message, 2 + user.length, password.length);
        return message;
    }

    /**
     * Whether the message that {@link #begin} or {@link #next} has returned is the last one, so that only its response
     * is missing.
     */
    boolean isLast() {
        return complete;
    }

    /** Takes the challenge of the broker, and returns the response to it. */
    byte[] next(byte[] message) throws LoginException {
        ServerFirst challenge;
        try {
            challenge = ServerFirst.parse(new String(message, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException malformed) {
            throw new LoginException("sent a malformed message of " + config.mechanism());
        }
        if (!challenge.nonce().startsWith(first.nonce())
                || challenge.nonce().length() == first.nonce().length()) {
            throw new LoginException("sent a message of another login");
        }
        if (challenge.iterations() < ScramMechanism.MIN_ITERATIONS
                || challenge.iterations() > ScramMechanism.MAX_ITERATIONS) {
            throw new LoginException("asked for " + challenge.iterations() + " iterations, instead of "
                    + ScramMechanism.MIN_ITERATIONS + " to " + ScramMechanism.MAX_ITERATIONS);
        }
        byte[] salted = scram.saltedPassword(config.password(), challenge.salt(), challenge.iterations());
        String unproven = ClientFinal.unproven(first.gs2Header(), challenge.nonce());
        String authMessage = ScramMessages.authMessage(first, challenge, unproven);
        expectedSignature = scram.serverSignature(salted, authMessage);
        complete = true;
        return utf8(ClientFinal.text(unproven, scram.clientProof(salted, authMessage)));
    }

    /** Takes the response to the last message. Returns normally if the broker has proven that it knows the user. */
    void finish(byte[] message) throws LoginException {
        if (scram == null) {
            return;
        }
        byte[] signature;
        try {
            signature = ScramMessages.parseServerFinal(new String(message, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException malformed) {
            throw new LoginException("sent a malformed message of " + config.mechanism());
        }
        if (signature == null || !MessageDigest.isEqual(signature, expectedSignature)) {
            throw new LoginException("has not proven that it knows the user");
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
