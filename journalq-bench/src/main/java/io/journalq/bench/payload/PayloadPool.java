package io.journalq.bench.payload;

import io.journalq.bench.BenchException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * The messages that a run sends, made before the clock starts so that making them costs nothing while it runs. Each
 * begins with its number in the pool and a CRC-32C of the rest, so a message read back can be checked on its own.
 * Immutable once built; any thread may read.
 *
 * <p>The pool is far larger than a core's own caches: a sender finds its next message as cold as a program finds data
 * that something else produced. Callers must not change the arrays.
 */
public final class PayloadPool {
    /** The number of the message in the pool, then the checksum of what follows. */
    public static final int HEADER_SIZE_BYTES = 8;
    /** Some room for content besides the header. */
    public static final int MIN_MESSAGE_SIZE_BYTES = 16;
    /** What brokers take in one message by default. */
    public static final int MAX_MESSAGE_SIZE_BYTES = 900_000;
    /** 64 MiB: 32 times the second-level cache of the cores of today. */
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

    /** The same for messages that a {@link Stamp} will be written over: content begins behind it. */
    public static PayloadPool buildForStamps(String kind, int messageSizeBytes, int poolSizeBytes) {
        return build(kind, messageSizeBytes, poolSizeBytes, Stamp.SIZE_BYTES);
    }

    private static PayloadPool build(String kind, int messageSizeBytes, int poolSizeBytes, int contentFrom) {
        if (messageSizeBytes < MIN_MESSAGE_SIZE_BYTES || messageSizeBytes > MAX_MESSAGE_SIZE_BYTES) {
            throw new BenchException(
                    "message size " + messageSizeBytes + " is out of range",
                    "give " + MIN_MESSAGE_SIZE_BYTES + " to " + MAX_MESSAGE_SIZE_BYTES + " bytes");
        }
        PayloadSource source = PayloadSource.of(kind);
        byte[][] messages = new byte[Math.max(MIN_MESSAGES, poolSizeBytes / messageSizeBytes)][];
        for (int index = 0; index < messages.length; index++) {
            byte[] message = new byte[messageSizeBytes];
            source.fill(index, message, contentFrom);
            ByteBuffer.wrap(message).putInt(index).putInt(checksum(message));
            messages[index] = message;
        }
        return new PayloadPool(messages);
    }

    /** How many messages there are. */
    public int size() {
        return messages.length;
    }

    /** Message number {@code index}, counted on beyond the end of the pool; {@code index} is not negative. */
    public byte[] message(long index) {
        return messages[(int) (index % messages.length)];
    }

    /** Whether these bytes are, in full, a message of this pool. */
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
