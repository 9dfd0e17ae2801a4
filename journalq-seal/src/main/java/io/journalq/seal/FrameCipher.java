package io.journalq.seal;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts and decrypts a text in frames, each by AES-256-GCM with a nonce of its own. Java's AES-GCM is slow for single
 * calls of several MiB and for direct buffers, so that frames are small and in arrays. One thread at a time; reused
 * through {@link #borrow} and {@link #giveBack}.
 */
final class FrameCipher {
    static final int TAG_SIZE_BYTES = 16;

    private static final int TAG_SIZE_BITS = 128;
    private static final int NONCE_SIZE_BYTES = 12;

    /** The maximum number of idle ciphers. Any number of virtual threads may seal, so that they have none of their own. */
    private static final int MAX_IDLE = 32;

    /** A cipher whose arrays have grown beyond this is not kept. */
    private static final int MAX_KEPT_BYTES = 2 * 1024 * 1024;

    private static final int INITIAL_BYTES = 80 * 1024;
    private static final BlockingQueue<FrameCipher> IDLE = new ArrayBlockingQueue<>(MAX_IDLE);

    private final Cipher cipher;
    private byte[] input = new byte[INITIAL_BYTES];
    private byte[] output = new byte[INITIAL_BYTES];

    private FrameCipher() {
        try {
            cipher = Cipher.getInstance("AES/GCM/NoPadding");
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("this Java has no AES-GCM", missing);
        }
    }

    static FrameCipher borrow() {
        FrameCipher idle = IDLE.poll();
        return idle == null ? new FrameCipher() : idle;
    }

    /** Keeps the cipher for the next use. Its arrays may contain plain text until then. */
    void giveBack() {
        if (input.length + output.length <= MAX_KEPT_BYTES) {
            IDLE.offer(this);
        }
    }

    /** An array of at least this size, for the text to seal. */
    byte[] input(int sizeBytes) {
        if (input.length < sizeBytes) {
            input = new byte[sizeBytes];
        }
        return input;
    }

    /** The result of {@link #seal} and {@link #open}. */
    byte[] output() {
        return output;
    }

    static int sealedSizeBytes(int plainBytes, int frameBits) {
        int frames = Math.max(1, (plainBytes + (1 << frameBits) - 1) >> frameBits);
        return plainBytes + frames * TAG_SIZE_BYTES;
    }

    /** Encrypts the first bytes of {@link #input}. Returns the size of the result. */
    int seal(SecretKeySpec key, long number, int frameBits, byte[] associated, int plainBytes)
            throws GeneralSecurityException {
        int sealedBytes = sealedSizeBytes(plainBytes, frameBits);
        grow(sealedBytes);
        int at = 0;
        int from = 0;
        for (int frame = 0; frame == 0 || from < plainBytes; frame++) {
            int size = Math.min(1 << frameBits, plainBytes - from);
            boolean last = from + size == plainBytes;
            init(Cipher.ENCRYPT_MODE, key, number, frame, last, associated);
            at += cipher.doFinal(input, from, size, output, at);
            from += size;
        }
        return at;
    }

    /**
     * Decrypts frames. Returns the size of the result.
     *
     * @param from the first byte of the frames in {@code sealed}
     * @param to the end of the frames
     * @throws GeneralSecurityException if a frame was changed, moved or removed
     */
    int open(SecretKeySpec key, long number, int frameBits, byte[] associated, byte[] sealed, int from, int to)
            throws GeneralSecurityException {
        grow(to - from);
        int frameSize = (1 << frameBits) + TAG_SIZE_BYTES;
        int at = 0;
        int next = from;
        for (int frame = 0; frame == 0 || next < to; frame++) {
            int size = Math.min(frameSize, to - next);
            boolean last = next + size == to;
            init(Cipher.DECRYPT_MODE, key, number, frame, last, associated);
            at += cipher.doFinal(sealed, next, size, output, at);
            next += size;
        }
        return at;
    }

    /** Encrypts the first bytes of {@link #input} as one record. Returns the size of the result. */
    int sealRecord(SecretKeySpec key, long number, int index, byte[] associated, int plainBytes)
            throws GeneralSecurityException {
        grow(plainBytes + TAG_SIZE_BYTES);
        init(Cipher.ENCRYPT_MODE, key, number, index, true, associated);
        return cipher.doFinal(input, 0, plainBytes, output, 0);
    }

    /** Decrypts one record. Returns the size of the result. */
    int openRecord(SecretKeySpec key, long number, int index, byte[] associated, byte[] sealed)
            throws GeneralSecurityException {
        grow(sealed.length);
        init(Cipher.DECRYPT_MODE, key, number, index, true, associated);
        return cipher.doFinal(sealed, 0, sealed.length, output, 0);
    }

    private void grow(int sizeBytes) {
        if (output.length < sizeBytes) {
            output = new byte[sizeBytes];
        }
    }

    private void init(int mode, SecretKeySpec key, long number, int frame, boolean last, byte[] associated)
            throws GeneralSecurityException {
        byte[] nonce = ByteBuffer.allocate(NONCE_SIZE_BYTES)
                .putLong(number)
                .put((byte) (frame >> 16))
                .putShort((short) frame)
                .put((byte) (last ? 1 : 0))
                .array();
        cipher.init(mode, key, new GCMParameterSpec(TAG_SIZE_BITS, nonce));
        cipher.updateAAD(associated);
    }
}
