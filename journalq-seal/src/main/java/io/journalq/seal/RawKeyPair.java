package io.journalq.seal;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.HexFormat;
import javax.crypto.KeyAgreement;

/**
 * A key pair of curve 25519 as raw bytes: X25519 for encryption (RFC 7748), Ed25519 for signatures (RFC 8032). Immutable
 * if the arrays are not modified.
 *
 * @param privateKey 32 bytes
 * @param publicKey 32 bytes
 */
@SuppressWarnings("ArrayRecordComponent") // compared by content
public record RawKeyPair(byte[] privateKey, byte[] publicKey) implements RoleKey {
    static final int KEY_SIZE_BYTES = 32;
    static final int SIGNATURE_SIZE_BYTES = 64;

    private static final String X25519 = "X25519";
    private static final String ED25519 = "Ed25519";
    private static final byte[] X25519_PUBLIC = HexFormat.of().parseHex("302a300506032b656e032100");
    private static final byte[] X25519_PRIVATE = HexFormat.of().parseHex("302e020100300506032b656e04220420");
    private static final byte[] ED25519_PUBLIC = HexFormat.of().parseHex("302a300506032b6570032100");
    private static final byte[] ED25519_PRIVATE = HexFormat.of().parseHex("302e020100300506032b657004220420");

    /** Checks the sizes. */
    public RawKeyPair {
        if (privateKey.length != KEY_SIZE_BYTES || publicKey.length != KEY_SIZE_BYTES) {
            throw new IllegalArgumentException("a key of curve 25519 has " + KEY_SIZE_BYTES + " bytes");
        }
    }

    /** Generates a key pair for encryption. */
    public static RawKeyPair ofX25519() {
        return generate(X25519);
    }

    /** Generates a key pair for signatures. */
    public static RawKeyPair ofEd25519() {
        return generate(ED25519);
    }

    private static RawKeyPair generate(String algorithm) {
        try {
            KeyPair pair = KeyPairGenerator.getInstance(algorithm).generateKeyPair();
            return new RawKeyPair(
                    tail(pair.getPrivate().getEncoded()), tail(pair.getPublic().getEncoded()));
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this Java has no " + algorithm, missing);
        }
    }

    private static byte[] tail(byte[] encoded) {
        return Arrays.copyOfRange(encoded, encoded.length - KEY_SIZE_BYTES, encoded.length);
    }

    /**
     * The shared secret of X25519.
     *
     * @throws GeneralSecurityException if the other key is not valid, for example a point of small order
     */
    byte[] agree(byte[] otherPublic) throws GeneralSecurityException {
        KeyAgreement agreement = KeyAgreement.getInstance(X25519);
        agreement.init(privateKey(X25519, X25519_PRIVATE));
        agreement.doPhase(publicKey(X25519, X25519_PUBLIC, otherPublic), true);
        return agreement.generateSecret();
    }

    /** An Ed25519 signature of the parts, one after the other. */
    byte[] sign(byte[]... parts) {
        try {
            Signature signature = Signature.getInstance(ED25519);
            signature.initSign(privateKey(ED25519, ED25519_PRIVATE));
            for (byte[] part : parts) {
                signature.update(part);
            }
            return signature.sign();
        } catch (GeneralSecurityException broken) {
            throw new IllegalStateException("cannot sign: " + broken.getMessage(), broken);
        }
    }

    /** Whether an Ed25519 signature of the parts is valid. False for keys and signatures that are malformed. */
    static boolean verify(byte[] publicKey, byte[] signed, byte[]... parts) {
        try {
            Signature signature = Signature.getInstance(ED25519);
            signature.initVerify(publicKey(ED25519, ED25519_PUBLIC, publicKey));
            for (byte[] part : parts) {
                signature.update(part);
            }
            return signature.verify(signed);
        } catch (GeneralSecurityException malformed) {
            return false;
        }
    }

    private PrivateKey privateKey(String algorithm, byte[] prefix) throws GeneralSecurityException {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(join(prefix, privateKey)));
    }

    private static PublicKey publicKey(String algorithm, byte[] prefix, byte[] raw) throws GeneralSecurityException {
        return KeyFactory.getInstance(algorithm).generatePublic(new X509EncodedKeySpec(join(prefix, raw)));
    }

    private static byte[] join(byte[] prefix, byte[] raw) {
        byte[] joined = Arrays.copyOf(prefix, prefix.length + raw.length);
        System.arraycopy(raw, 0, joined, prefix.length, raw.length);
        return joined;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RawKeyPair pair
                && Arrays.equals(privateKey, pair.privateKey)
                && Arrays.equals(publicKey, pair.publicKey);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(publicKey);
    }

    /** Never contains the private key. */
    @Override
    public String toString() {
        return "RawKeyPair[" + HexFormat.of().formatHex(publicKey) + "]";
    }
}
