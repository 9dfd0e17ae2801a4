package io.journalq.bench.scenario;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.MGF1ParameterSpec;
import java.util.Arrays;
import java.util.Locale;
import javax.crypto.Cipher;
import javax.crypto.KeyGenerator;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.OAEPParameterSpec;
import javax.crypto.spec.PSource;
import javax.crypto.spec.SecretKeySpec;

/** How the messages of a transfer are protected from the broker. */
enum MessageProtection {
    /** The broker can read them. */
    NONE,
    /** Batches are sealed by the clients (JQE1). */
    JQE1,
    /** The same, and the sender signs each batch. */
    JQE1_SIGNED,
    /**
     * Each message has an AES-256 key of its own, which is encrypted with the RSA key of the receiver, as CipherMQ does
     * it: OAEP with SHA-256, then AES-256-GCM.
     */
    RSA_PER_MESSAGE;

    private static final int RSA_BITS = 2_048;
    private static final int NONCE_SIZE_BYTES = 12;
    private static final int TAG_SIZE_BITS = 128;
    private static final OAEPParameterSpec OAEP =
            new OAEPParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, PSource.PSpecified.DEFAULT);

    /** The name in options and results. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Encrypts and decrypts messages for one receiver, one by one. Each thread needs one of its own. */
    static final class PerMessage {
        private final KeyPair receiver;
        private final SecureRandom random = new SecureRandom();
        private final Cipher rsa;
        private final Cipher aes;
        private final KeyGenerator keys;

        PerMessage(KeyPair receiver) throws GeneralSecurityException {
            this.receiver = receiver;
            this.rsa = Cipher.getInstance("RSA/ECB/OAEPPadding");
            this.aes = Cipher.getInstance("AES/GCM/NoPadding");
            this.keys = KeyGenerator.getInstance("AES");
            this.keys.init(256, random);
        }

        static KeyPair newReceiver() throws GeneralSecurityException {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(RSA_BITS);
            return generator.generateKeyPair();
        }

        /** The encrypted key, the nonce, and the encrypted message. */
        byte[] encrypt(byte[] message) throws GeneralSecurityException {
            byte[] key = keys.generateKey().getEncoded();
            rsa.init(Cipher.ENCRYPT_MODE, receiver.getPublic(), OAEP, random);
            byte[] wrapped = rsa.doFinal(key);
            byte[] nonce = new byte[NONCE_SIZE_BYTES];
            random.nextBytes(nonce);
            aes.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(TAG_SIZE_BITS, nonce));
            byte[] sealed = aes.doFinal(message);
            return ByteBuffer.allocate(wrapped.length + nonce.length + sealed.length)
                    .put(wrapped)
                    .put(nonce)
                    .put(sealed)
                    .array();
        }

        byte[] decrypt(byte[] encrypted) throws GeneralSecurityException {
            int wrappedBytes = RSA_BITS / Byte.SIZE;
            rsa.init(Cipher.DECRYPT_MODE, receiver.getPrivate(), OAEP);
            byte[] key = rsa.doFinal(encrypted, 0, wrappedBytes);
            byte[] nonce = Arrays.copyOfRange(encrypted, wrappedBytes, wrappedBytes + NONCE_SIZE_BYTES);
            aes.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(TAG_SIZE_BITS, nonce));
            int start = wrappedBytes + NONCE_SIZE_BYTES;
            return aes.doFinal(encrypted, start, encrypted.length - start);
        }
    }
}
