package io.journalq.common.record;

import io.netty.buffer.ByteBuf;

/** Variable-length integers in zigzag encoding, as in records: 7 bits per byte, least significant first. Stateless. */
public final class Varint {
    static final int MAX_INT_SIZE_BYTES = 5;
    static final int MAX_LONG_SIZE_BYTES = 10;

    private Varint() {}

    /** The number of bytes that a value takes. */
    public static int sizeBytes(int value) {
        int zigZag = (value << 1) ^ (value >> 31);
        return (38 - Integer.numberOfLeadingZeros(zigZag | 1)) / 7;
    }

    /** The number of bytes that a value takes. */
    public static int sizeBytes(long value) {
        long zigZag = (value << 1) ^ (value >> 63);
        return (70 - Long.numberOfLeadingZeros(zigZag | 1)) / 7;
    }

    /** Writes at {@code index}, where there must be room, and returns the index after it. */
    public static int set(ByteBuf buffer, int index, int value) {
        int rest = (value << 1) ^ (value >> 31);
        int at = index;
        while ((rest & ~0x7F) != 0) {
            buffer.setByte(at++, (rest & 0x7F) | 0x80);
            rest >>>= 7;
        }
        buffer.setByte(at++, rest);
        return at;
    }

    /** Writes at {@code index}, where there must be room, and returns the index after it. */
    public static int set(ByteBuf buffer, int index, long value) {
        long rest = (value << 1) ^ (value >> 63);
        int at = index;
        while ((rest & ~0x7FL) != 0) {
            buffer.setByte(at++, (int) ((rest & 0x7F) | 0x80));
            rest >>>= 7;
        }
        buffer.setByte(at++, (int) rest);
        return at;
    }
}
