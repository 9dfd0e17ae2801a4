package io.journalq.common.sasl;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A variant of SCRAM, with the calculations of its keys and signatures. As in Kafka, passwords are used in UTF-8,
 * without the preparation of RFC 4013.
 *
 * <p>Sources: RFC 5802 section 3, RFC 7677, {@code ScramMechanism} of Kafka.
 */
public enum ScramMechanism {
    SCRAM_SHA_256("SCRAM-SHA-256", 1, "SHA-256", "HmacSHA256", 32),
    SCRAM_SHA_512("SCRAM-SHA-512", 2, "SHA-512", "HmacSHA512", 64);

    /** Fewer iterations make it too cheap to guess the password of stolen keys. */
    public static final int MIN_ITERATIONS = 4_096;

    /** More iterations make it too expensive to log in. */
    public static final int MAX_ITERATIONS = 16_384;

    private static final byte[] FIRST_BLOCK = {0, 0, 0, 1};
    private static final byte[] CLIENT_KEY = "Client Key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] SERVER_KEY = "Server Key".getBytes(StandardCharsets.US_ASCII);

    private final String mechanismName;
    private final byte type;
    private final String hashName;
    private final String hmacName;
    private final int hashSizeBytes;

    ScramMechanism(String mechanismName, int type, String hashName, String hmacName, int hashSizeBytes) {
        this.mechanismName = mechanismName;
        this.type = (byte) type;
        this.hashName = hashName;
        this.hmacName = hmacName;
        this.hashSizeBytes = hashSizeBytes;
    }

    /** The mechanism with this name; null if there is none. */
    public static ScramMechanism of(String mechanismName) {
        for (ScramMechanism mechanism : values()) {
            if (mechanism.mechanismName.equals(mechanismName)) {
                return mechanism;
            }
        }
        return null;
    }

    /** The mechanism with this number; null if there is none. */
    public static ScramMechanism of(byte type) {
        for (ScramMechanism mechanism : values()) {
            if (mechanism.type == type) {
                return mechanism;
            }
        }
        return null;
    }

    /** The name in SASL, such as {@code SCRAM-SHA-256}. */
    public String mechanismName() {
        return mechanismName;
    }

    /** The number in the protocol and in the metadata (KIP-554). */
    public byte type() {
        return type;
    }

    /** Size of a hash, of a key and of a signature. */
    public int hashSizeBytes() {
        return hashSizeBytes;
    }

    /**
     * The salted password: PBKDF2 with one block. Takes milliseconds.
     *
     * @param password in UTF-8, not empty
     */
    public byte[] saltedPassword(byte[] password, byte[] salt, int iterations) {
        try {
            Mac mac = mac(password);
            mac.update(salt);
            byte[] block = mac.doFinal(FIRST_BLOCK);
            byte[] result = block.clone();
            for (int i = 1; i < iterations; i++) {
                mac.update(block);
                mac.doFinal(block, 0);
                for (int k = 0; k < result.length; k++) {
                    result[k] ^= block[k];
                }
            }
            return result;
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The keys that a broker keeps for a user. */
    public ScramCredential credential(byte[] saltedPassword, byte[] salt, int iterations) {
        return new ScramCredential(
                this, salt, iterations, hash(clientKey(saltedPassword)), hmac(saltedPassword, SERVER_KEY));
    }

    /** The signature by which a broker proves that it has the keys of the user. */
    public byte[] serverSignature(ScramCredential credential, String authMessage) {
        return hmac(credential.serverKey(), utf8(authMessage));
    }

    /** The signature that a client would have to send with this password. */
    public byte[] serverSignature(byte[] saltedPassword, String authMessage) {
        return hmac(hmac(saltedPassword, SERVER_KEY), utf8(authMessage));
    }

    /** The proof by which a client shows that it knows the password. */
    public byte[] clientProof(byte[] saltedPassword, String authMessage) {
        byte[] clientKey = clientKey(saltedPassword);
        return xor(clientKey, hmac(hash(clientKey), utf8(authMessage)));
    }

    /**
     * Whether a proof is that of a client with the password of {@code credential}. Takes the same time in both cases.
     */
    public boolean isProven(ScramCredential credential, String authMessage, byte[] proof) {
        if (proof.length != hashSizeBytes) {
            return false;
        }
        byte[] clientKey = xor(proof, hmac(credential.storedKey(), utf8(authMessage)));
        return MessageDigest.isEqual(hash(clientKey), credential.storedKey());
    }

    /** Whether {@code password} is that of {@code credential}. Takes the same time in both cases. */
    public boolean isPassword(ScramCredential credential, byte[] password) {
        byte[] salted = saltedPassword(password, credential.salt(), credential.iterations());
        return MessageDigest.isEqual(hash(clientKey(salted)), credential.storedKey());
    }

    /** The keyed hash (HMAC) of a text. */
    public byte[] hmac(byte[] key, byte[] text) {
        try {
            return mac(key).doFinal(text);
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private byte[] clientKey(byte[] saltedPassword) {
        return hmac(saltedPassword, CLIENT_KEY);
    }

    private byte[] hash(byte[] text) {
        try {
            return MessageDigest.getInstance(hashName).digest(text);
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private Mac mac(byte[] key) throws GeneralSecurityException {
        Mac mac = Mac.getInstance(hmacName);
        mac.init(new SecretKeySpec(key, hmacName));
        return mac;
    }

    private static byte[] xor(byte[] left, byte[] right) {
        byte[] result = left.clone();
        for (int i = 0; i < result.length; i++) {
            result[i] ^= right[i];
        }
        return result;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
