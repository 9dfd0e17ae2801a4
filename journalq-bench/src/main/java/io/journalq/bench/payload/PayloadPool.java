package io.journalq.bench.payload;

import io.journalq.bench.BenchException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * The messages that a run sends. They are generated before the clock starts, so that generating them takes no time during
 * the run. Each starts with its number in the pool and a CRC-32C of the rest, so that a message can be verified on its own
 * when it is read back. Immutable; any thread may read.
 *
 * <p>The pool is much larger than the caches of a core. A sender therefore finds its next message as cold as a program finds
 * data that another component produced. Callers must not modify the arrays.
 */
public final class PayloadPool {
    /** The number of the message in the pool, then the checksum of the rest. */
    public static final int HEADER_SIZE_BYTES = 8;
    /** The header, and room for some content. */
    public static final int MIN_MESSAGE_SIZE_BYTES = 16;
    /** Below the limit that brokers have by default. */
    public static final int MAX_MESSAGE_SIZE_BYTES = 900_000;
    /** 64 MiB, which is 32 times a second-level cache of 2 MiB. */
    public static final int DEFAULT_SIZE_BYTES = 64 << 20;

    private static final int MIN_MESSAGES = 128;

    private final byte[][] messages;

    private PayloadPool(byte[][] messages) {
        this.messages = messages;
    }

    /** Builds messages of {@code messageSizeBytes} each, {@code poolSizeBytes} in total. */
    public static PayloadPool build(String kind, int messageSizeBytes, int poolSizeBytes) {
        return build(kind, messageSizeBytes, poolSizeBytes, HEADER_SIZE_BYTES);
    }

    /** Builds messages whose content starts behind the space for a {@link Stamp}. */
    public static PayloadPool buildForStamps(String kind, int messageSizeBytes, int poolSizeBytes) {
        return build(kind, messageSizeBytes, poolSizeBytes, Stamp.SIZE_BYTES);
    }

    /** Throws if no messages of this kind and size can be generated. */
    public static PayloadSource require(String kind, int messageSizeBytes) {
        if (messageSizeBytes < MIN_MESSAGE_SIZE_BYTES || messageSizeBytes > MAX_MESSAGE_SIZE_BYTES) {
            throw BenchException.wrongUsage(
                    "a message size of " + messageSizeBytes + " bytes is out of range",
                    "use " + MIN_MESSAGE_SIZE_BYTES + " to " + MAX_MESSAGE_SIZE_BYTES + " bytes");
        }
        return PayloadSource.of(kind);
    }

    private static PayloadPool build(String kind, int messageSizeBytes, int poolSizeBytes, int contentFrom) {
        PayloadSource source = require(kind, messageSizeBytes);
        byte[][] messages = new byte[Math.max(MIN_MESSAGES, poolSizeBytes / messageSizeBytes)][];
        for (int index = 0; index < messages.length; index++) {
            byte[] message = new byte[messageSizeBytes];
            source.fill(index, message, contentFrom);
            ByteBuffer.wrap(message).putInt(index).putInt(checksum(message));
            messages[index] = message;
        }
        return new PayloadPool(messages);
    }

    /** The number of messages. */
    public int size() {
        return messages.length;
    }

    /** Message number {@code index}, which is not negative. Starts again at the end of the pool. */
    public byte[] message(long index) {
        return messages[(int) (index % messages.length)];
    }

    /** Whether these bytes are a complete message of this pool. */
    public boolean holds(byte[] received) {
        if (received.length < MIN_MESSAGE_SIZE_BYTES) {
            return false;
        }
        ByteBuffer buffer = ByteBuffer.wrap(received);
        int index = buffer.getInt();
        return buffer.getInt() == checksum(received)
                && index >= 0
                && index < messages.length
                && Arrays.equals(messages[index], received);
    }

    private static int checksum(byte[] message) {
        CRC32C crc = new CRC32C();
        crc.update(message, HEADER_SIZE_BYTES, message.length - HEADER_SIZE_BYTES);
        return (int) crc.getValue();
    }
}
