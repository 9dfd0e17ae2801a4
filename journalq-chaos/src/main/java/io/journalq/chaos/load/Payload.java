package io.journalq.chaos.load;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The content of a message: who sent it, its number, a checksum, and a filler.
 *
 * @param producer id of the producer
 * @param number position among the messages of this producer in this partition, from 0
 */
public record Payload(int producer, long number) {
    private static final int HEADER_SIZE_BYTES = Integer.BYTES + Long.BYTES + Integer.BYTES;
    private static final int MOST_FILLER_BYTES = 200;

    public byte[] encode() {
        int filler = (int) (number * 31 + producer) % MOST_FILLER_BYTES;
        ByteBuffer out = ByteBuffer.allocate(HEADER_SIZE_BYTES + filler);
        out.putInt(producer).putLong(number).putInt(0);
        for (int i = 0; i < filler; i++) {
            out.put((byte) ('a' + (number + i) % 26));
        }
        out.putInt(Integer.BYTES + Long.BYTES, checksum(out.array()));
        return out.array();
    }

    /** Returns null if the bytes are not the result of {@link #encode}. */
    public static Payload decode(byte[] value) {
        if (value == null || value.length < HEADER_SIZE_BYTES) {
            return null;
        }
        ByteBuffer in = ByteBuffer.wrap(value);
        Payload payload = new Payload(in.getInt(), in.getLong());
        return in.getInt() == checksum(value) ? payload : null;
    }

    private static int checksum(byte[] value) {
        CRC32C crc = new CRC32C();
        crc.update(value, 0, Integer.BYTES + Long.BYTES);
        crc.update(value, HEADER_SIZE_BYTES, value.length - HEADER_SIZE_BYTES);
        return (int) crc.getValue();
    }
}
