package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts a short message for the owner of an X25519 key: HPKE in base mode, one message for each encapsulation (RFC
 * 9180, section 6.1), with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM. Immutable; any thread.
 *
 * <p>X25519 and AES-GCM are in every Java 17, and the batches use AES-256-GCM as well. The vectors in the RFC for this KEM
 * use AES-128-GCM, so that tests run the same code with it.
 */
final class Hpke {
    static final int ENCAPSULATION_SIZE_BYTES = RawKeyPair.KEY_SIZE_BYTES;
    static final int TAG_SIZE_BYTES = 16;

    /** The suite of key packets. */
    static final Hpke AES_256_GCM = new Hpke(2, 32);

    private static final int NONCE_SIZE_BYTES = 12;
    private static final int TAG_SIZE_BITS = 128;
    private static final byte MODE_BASE = 0;
    private static final short KEM_X25519 = 0x0020;
    private static final short KDF_SHA256 = 0x0001;
    private static final byte[] VERSION = "HPKE-v1".getBytes(US_ASCII);
    private static final byte[] NOTHING = {};

    private final int keySizeBytes;
    private final byte[] kemSuite;
    private final byte[] suite;

    Hpke(int aeadId, int keySizeBytes) {
        this.keySizeBytes = keySizeBytes;
        this.kemSuite = ByteBuffer.allocate(5)
                .put("KEM".getBytes(US_ASCII))
                .putShort(KEM_X25519)
                .array();
        this.suite = ByteBuffer.allocate(10)
                .put("HPKE".getBytes(US_ASCII))
                .putShort(KEM_X25519)
                .putShort(KDF_SHA256)
                .putShort((short) aeadId)
                .array();
    }

    /**
     * Encrypts a message.
     *
     * @param ephemeral a key pair that is used only once
     * @return the ciphertext with its tag; the recipient also needs the ephemeral public key
     * @throws GeneralSecurityException if the recipient's key is not valid
     */
    byte[] seal(byte[] recipient, RawKeyPair ephemeral, byte[] info, byte[] associated, byte[] message)
            throws GeneralSecurityException {
        byte[] shared = shared(ephemeral.agree(recipient), ephemeral.publicKey(), recipient);
        return crypt(Cipher.ENCRYPT_MODE, shared, info, associated, message);
    }

    /**
     * Decrypts a message.
     *
     * @throws GeneralSecurityException if the message is not for this recipient, or was changed
     */
    byte[] open(byte[] encapsulation, RawKeyPair recipient, byte[] info, byte[] associated, byte[] ciphertext)
            throws GeneralSecurityException {
        byte[] shared = shared(recipient.agree(encapsulation), encapsulation, recipient.publicKey());
        return crypt(Cipher.DECRYPT_MODE, shared, info, associated, ciphertext);
    }

    /** ExtractAndExpand of the KEM. */
    private byte[] shared(byte[] agreed, byte[] encapsulation, byte[] recipient) {
        byte[] context = Arrays.copyOf(encapsulation, encapsulation.length + recipient.length);
        System.arraycopy(recipient, 0, context, encapsulation.length, recipient.length);
        byte[] extracted = extract(kemSuite, NOTHING, "eae_prk", agreed);
        return expand(kemSuite, extracted, "shared_secret", context, Hkdf.HASH_SIZE_BYTES);
    }

    private byte[] crypt(int mode, byte[] shared, byte[] info, byte[] associated, byte[] text)
            throws GeneralSecurityException {
        byte[] context = ByteBuffer.allocate(1 + 2 * Hkdf.HASH_SIZE_BYTES)
                .put(MODE_BASE)
                .put(extract(suite, NOTHING, "psk_id_hash", NOTHING))
                .put(extract(suite, NOTHING, "info_hash", info))
                .array();
        byte[] secret = extract(suite, shared, "secret", NOTHING);
        byte[] key = expand(suite, secret, "key", context, keySizeBytes);
        byte[] nonce = expand(suite, secret, "base_nonce", context, NONCE_SIZE_BYTES);
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(TAG_SIZE_BITS, nonce));
        cipher.updateAAD(associated);
        return cipher.doFinal(text);
    }

    private static byte[] extract(byte[] suite, byte[] salt, String label, byte[] inputKeyMaterial) {
        return Hkdf.extract(salt, VERSION, suite, label.getBytes(US_ASCII), inputKeyMaterial);
    }

    private static byte[] expand(byte[] suite, byte[] key, String label, byte[] info, int sizeBytes) {
        byte[] name = label.getBytes(US_ASCII);
        byte[] labeled = ByteBuffer.allocate(2 + VERSION.length + suite.length + name.length + info.length)
                .putShort((short) sizeBytes)
                .put(VERSION)
                .put(suite)
                .put(name)
                .put(info)
                .array();
        return Hkdf.expand(key, labeled, sizeBytes);
    }
}
