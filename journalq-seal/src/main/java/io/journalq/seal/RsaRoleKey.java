package io.journalq.seal;

import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import javax.crypto.Cipher;
import javax.crypto.spec.OAEPParameterSpec;
import javax.crypto.spec.PSource;

/**
 * An RSA key of a role: RSA-OAEP with SHA-256 and MGF1 with SHA-256 (RFC 8017), of 3,072 to 8,192 bits. For recipients
 * whose keys are in hardware or in a key management service, which rarely have X25519. Immutable, any thread.
 */
public final class RsaRoleKey implements RoleKey {
    /** The minimum size of a key, in bits. Shorter keys are refused everywhere. */
    public static final int MIN_SIZE_BITS = 3_072;

    private static final int MAX_SIZE_BITS = 8_192;
    private static final BigInteger MIN_EXPONENT = BigInteger.valueOf(65_537);
    private static final String ALGORITHM = "RSA";
    private static final String TRANSFORMATION = "RSA/ECB/OAEPPadding";
    private static final OAEPParameterSpec OAEP_SHA256 =
            new OAEPParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, PSource.PSpecified.DEFAULT);

    private final byte[] publicKey;
    /** Null if the private key is in another process. */
    private final byte[] privateKey;

    private final Decryption decryption;

    /** Decrypts by a private key that may be in another process. Any thread; may block. */
    @FunctionalInterface
    public interface Decryption {
        /**
         * Decrypts by RSA-OAEP with SHA-256 and an empty label.
         *
         * @throws GeneralSecurityException if the text was not encrypted for this key
         * @throws IOException if the key cannot be used now
         */
        byte[] decrypt(byte[] ciphertext) throws GeneralSecurityException, IOException;
    }

    private RsaRoleKey(byte[] publicKey, byte[] privateKey, Decryption decryption) {
        checked(publicKey);
        this.publicKey = publicKey.clone();
        this.privateKey = privateKey;
        this.decryption = decryption;
    }

    /** Generates a key of 3,072 bits. Takes up to some seconds. */
    public static RsaRoleKey generate() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance(ALGORITHM);
            generator.initialize(MIN_SIZE_BITS);
            KeyPair pair = generator.generateKeyPair();
            return of(pair.getPrivate().getEncoded(), pair.getPublic().getEncoded());
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this Java has no " + ALGORITHM, missing);
        }
    }

    /**
     * A key in memory.
     *
     * @param pkcs8 the private key
     * @param publicKey as {@link RoleKey#publicKey()}
     * @throws IllegalArgumentException if the key is malformed or too short
     */
    static RsaRoleKey of(byte[] pkcs8, byte[] publicKey) {
        PrivateKey key;
        try {
            key = KeyFactory.getInstance(ALGORITHM).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
        } catch (GeneralSecurityException malformed) {
            throw new IllegalArgumentException("not a private RSA key", malformed);
        }
        return new RsaRoleKey(publicKey, pkcs8, ciphertext -> crypt(Cipher.DECRYPT_MODE, key, ciphertext));
    }

    /**
     * A key whose private part is in another process.
     *
     * @param publicKey as {@link RoleKey#publicKey()}
     * @throws IllegalArgumentException if the key is malformed or too short
     */
    public static RsaRoleKey remote(byte[] publicKey, Decryption decryption) {
        return new RsaRoleKey(publicKey, null, decryption);
    }

    /** Whether an encoded public key is one of RSA and not of X25519. Whether it is valid, {@link #checked} says. */
    static boolean isRsa(byte[] publicKey) {
        return publicKey.length != RawKeyPair.KEY_SIZE_BYTES;
    }

    /**
     * Decodes a public key.
     *
     * @throws IllegalArgumentException if it is malformed or weak
     */
    static RSAPublicKey checked(byte[] publicKey) {
        RSAPublicKey key;
        try {
            key = (RSAPublicKey) KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(publicKey));
        } catch (GeneralSecurityException malformed) {
            throw new IllegalArgumentException(
                    "a public key has 32 bytes (X25519), or is an RSA key in the form SubjectPublicKeyInfo", malformed);
        }
        int sizeBits = key.getModulus().bitLength();
        if (sizeBits < MIN_SIZE_BITS || sizeBits > MAX_SIZE_BITS) {
            throw new IllegalArgumentException("an RSA key must have " + MIN_SIZE_BITS + " to " + MAX_SIZE_BITS
                    + " bits; this one has " + sizeBits);
        }
        if (key.getPublicExponent().compareTo(MIN_EXPONENT) < 0
                || !key.getPublicExponent().testBit(0)) {
            throw new IllegalArgumentException("the public exponent of an RSA key must be odd and at least 65537");
        }
        return key;
    }

    /** Encrypts a short message. */
    static byte[] encrypt(byte[] publicKey, byte[] message) throws GeneralSecurityException {
        return crypt(Cipher.ENCRYPT_MODE, checked(publicKey), message);
    }

    private static byte[] crypt(int mode, Key key, byte[] text) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance(TRANSFORMATION);
        cipher.init(mode, key, OAEP_SHA256);
        return cipher.doFinal(text);
    }

    byte[] decrypt(byte[] ciphertext) throws GeneralSecurityException, IOException {
        return decryption.decrypt(ciphertext);
    }

    @Override
    public byte[] publicKey() {
        return publicKey.clone();
    }

    /** The private key in the form PKCS#8; null if it is in another process. */
    byte[] privateKey() {
        return privateKey;
    }

    /** Never contains the private key. */
    @Override
    public String toString() {
        return "RsaRoleKey[" + Registry.fingerprint(publicKey) + "]";
    }
}
