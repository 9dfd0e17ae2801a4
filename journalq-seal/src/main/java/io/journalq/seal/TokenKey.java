package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.security.SecureRandom;
import java.util.Arrays;

/**
 * The secret from which the senders of a topic make the tokens that stand for keys ({@link SealMode#TOKEN}): the first 128
 * bits of an HMAC with SHA-256 of the key. All senders of the topic need it, and consumers do not. It cannot be replaced,
 * because a key with two tokens would be two keys for the broker. Immutable, any thread.
 */
public final class TokenKey {
    static final int SIZE_BYTES = 32;

    /** Size of a token, in bytes. */
    static final int TOKEN_SIZE_BYTES = 16;

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final byte[] TOKEN_LABEL = "JQE1 token\0".getBytes(US_ASCII);
    private static final byte[] COMMITMENT_LABEL = "JQE1 token commitment\0".getBytes(US_ASCII);

    private final byte[] secret;

    TokenKey(byte[] secret) {
        if (secret.length != SIZE_BYTES) {
            throw new IllegalArgumentException("a token key has " + SIZE_BYTES + " bytes");
        }
        this.secret = secret.clone();
    }

    /** Generates a key. */
    public static TokenKey random() {
        byte[] secret = new byte[SIZE_BYTES];
        RANDOM.nextBytes(secret);
        return new TokenKey(secret);
    }

    /** A value that only this key has for a topic. The registry contains it, so that no sender uses another key. */
    public byte[] commitment(String topic) {
        return Hkdf.hmac(secret, COMMITMENT_LABEL, new FieldWriter().text(topic).done());
    }

    /** The token of a key. */
    byte[] token(String realm, String topic, byte[] key) {
        byte[] place = new FieldWriter().text(realm).text(topic).done();
        return Arrays.copyOf(Hkdf.hmac(secret, TOKEN_LABEL, place, key), TOKEN_SIZE_BYTES);
    }

    /** The secret itself. */
    byte[] secret() {
        return secret;
    }

    /** Never contains the secret. */
    @Override
    public String toString() {
        return "TokenKey";
    }
}
