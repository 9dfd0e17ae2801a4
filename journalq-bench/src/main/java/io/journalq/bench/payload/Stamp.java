package io.journalq.bench.payload;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The header of a message: its producer, its number, the time at which it was due, and a CRC-32C of everything else. With
 * it, a receiver detects lost, repeated and damaged messages, and computes latencies. Immutable.
 *
 * @param producer number of the producer in its run, from 0
 * @param sequence number of the message, from 0 without gaps
 * @param sentNs time at which the message was due, in nanoseconds since 1970
 */
public record Stamp(int producer, long sequence, long sentNs) {
    /** Producer, sequence, time and checksum. */
    public static final int SIZE_BYTES = Integer.BYTES + Long.BYTES + Long.BYTES + Integer.BYTES;

    private static final int CHECKSUM_AT = SIZE_BYTES - Integer.BYTES;

    /** Overwrites the first {@link #SIZE_BYTES} bytes of {@code message}, which must not be shorter. */
    public void write(byte[] message) {
        ByteBuffer buffer = ByteBuffer.wrap(message);
        buffer.putInt(producer).putLong(sequence).putLong(sentNs);
        buffer.putInt(checksum(message));
    }

    /** Reads the stamp of a message; null if the message is too short. */
    public static Stamp read(byte[] message) {
        if (message.length < SIZE_BYTES) {
            return null;
        }
        ByteBuffer buffer = ByteBuffer.wrap(message);
        return new Stamp(buffer.getInt(), buffer.getLong(), buffer.getLong());
    }

    /** Whether the message is unchanged since it was stamped. It must be long enough for a stamp. */
    public static boolean isIntact(byte[] message) {
        return ByteBuffer.wrap(message).getInt(CHECKSUM_AT) == checksum(message);
    }

    private static int checksum(byte[] message) {
        CRC32C crc = new CRC32C();
        crc.update(message, 0, CHECKSUM_AT);
        crc.update(message, SIZE_BYTES, message.length - SIZE_BYTES);
        return (int) crc.getValue();
    }
}
