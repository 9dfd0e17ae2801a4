package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.journalq.seal.KeyVault.StoredKey;
import io.journalq.seal.KeyVault.WrongPassphraseException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Cipher;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The keyring of JournalQ: encrypted by AES-256-GCM with a key from a passphrase (PBKDF2 with HMAC-SHA-512). Its text has
 * one line for each key: the name, the private key and the public key in base64.
 */
final class FileKeyring implements KeyVault.Form {
    /** The number of PBKDF2 iterations of new files. One attempt takes about half a second. */
    static final int ITERATIONS = 1_000_000;

    private static final int MAX_ITERATIONS = 20_000_000;
    private static final byte[] MAGIC = "JQV1".getBytes(US_ASCII);
    private static final int SALT_SIZE_BYTES = 16;
    private static final int NONCE_SIZE_BYTES = 12;
    private static final int KEY_SIZE_BITS = 256;
    private static final int TAG_SIZE_BITS = 128;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final int iterations;
    private final byte[] salt;
    private final SecretKeySpec fileKey;

    private FileKeyring(int iterations, byte[] salt, SecretKeySpec fileKey) {
        this.iterations = iterations;
        this.salt = salt;
        this.fileKey = fileKey;
    }

    /** The form of a new file. */
    static FileKeyring create(char[] passphrase, int iterations) {
        if (!isInRange(iterations)) {
            throw new IllegalArgumentException(
                    "iterations must be from 1 to " + MAX_ITERATIONS + ", was " + iterations);
        }
        byte[] salt = new byte[SALT_SIZE_BYTES];
        RANDOM.nextBytes(salt);
        return new FileKeyring(iterations, salt, derive(passphrase, salt, iterations));
    }

    /**
     * The form of a file that exists.
     *
     * @throws SealFault if it is not a keyring
     */
    static FileKeyring of(byte[] content, char[] passphrase) {
        FieldReader in = new FieldReader(content);
        in.expect(MAGIC, "a keyring");
        int iterations = checked(in.number32());
        byte[] salt = in.bytes(SALT_SIZE_BYTES);
        return new FileKeyring(iterations, salt, derive(passphrase, salt, iterations));
    }

    private static boolean isInRange(int iterations) {
        return iterations >= 1 && iterations <= MAX_ITERATIONS;
    }

    /** The number of iterations in a file, if it is not too high. */
    static int checked(int iterations) {
        if (!isInRange(iterations)) {
            throw new IllegalArgumentException("it has an invalid number of iterations");
        }
        return iterations;
    }

    /** Derives a key of 256 bits from a passphrase. */
    static SecretKeySpec derive(char[] passphrase, byte[] salt, int iterations) {
        try {
            byte[] key = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA512")
                    .generateSecret(new PBEKeySpec(passphrase, salt, iterations, KEY_SIZE_BITS))
                    .getEncoded();
            return new SecretKeySpec(key, "AES");
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this Java has no PBKDF2 with SHA-512", missing);
        }
    }

    private byte[] crypt(int mode, byte[] nonce, byte[] text) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, fileKey, new GCMParameterSpec(TAG_SIZE_BITS, nonce));
        cipher.updateAAD(MAGIC);
        cipher.updateAAD(ByteBuffer.allocate(Integer.BYTES).putInt(iterations).array());
        cipher.updateAAD(salt);
        return cipher.doFinal(text);
    }

    @Override
    public Map<String, StoredKey> decode(byte[] content) throws IOException {
        FieldReader in = new FieldReader(content);
        in.bytes(MAGIC.length + Integer.BYTES + SALT_SIZE_BYTES);
        byte[] nonce = in.bytes(NONCE_SIZE_BYTES);
        byte[] text;
        try {
            text = crypt(Cipher.DECRYPT_MODE, nonce, in.bytes(in.leftBytes()));
        } catch (GeneralSecurityException wrong) {
            throw new WrongPassphraseException(wrong);
        }
        Map<String, StoredKey> keys = new TreeMap<>();
        Base64.Decoder base64 = Base64.getDecoder();
        for (String line : new String(text, UTF_8).split("\n", -1)) {
            String[] words = line.split(" ", -1);
            if (words.length == 3) {
                keys.put(words[0], new StoredKey(base64.decode(words[1]), base64.decode(words[2])));
            } else if (!line.isEmpty()) {
                throw new IllegalArgumentException("an unknown line");
            }
        }
        return keys;
    }

    @Override
    public byte[] encode(Map<String, StoredKey> keys) {
        StringBuilder text = new StringBuilder();
        Base64.Encoder base64 = Base64.getEncoder();
        keys.forEach((name, key) -> text.append(name)
                .append(' ')
                .append(base64.encodeToString(key.privateKey()))
                .append(' ')
                .append(base64.encodeToString(key.publicKey()))
                .append('\n'));
        byte[] nonce = new byte[NONCE_SIZE_BYTES];
        RANDOM.nextBytes(nonce);
        byte[] plain = text.toString().getBytes(UTF_8);
        try {
            return new FieldWriter()
                    .bytes(MAGIC)
                    .number32(iterations)
                    .bytes(salt)
                    .bytes(nonce)
                    .bytes(crypt(Cipher.ENCRYPT_MODE, nonce, plain))
                    .done();
        } catch (GeneralSecurityException broken) {
            throw new IllegalStateException("cannot encrypt: " + broken.getMessage(), broken);
        } finally {
            Arrays.fill(plain, (byte) 0);
        }
    }
}
