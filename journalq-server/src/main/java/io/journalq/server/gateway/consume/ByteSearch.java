package io.journalq.server.gateway.consume;

import io.netty.buffer.ByteBuf;

/**
 * Finds a text in bytes. Letters of ASCII match in any case. 8 positions are compared at a time: those at which the first
 * and the last byte of the text match are compared in full. Immutable, any thread.
 */
final class ByteSearch {
    private static final long EACH_BYTE = 0x0101010101010101L;
    private static final long HIGH_BITS = 0x8080808080808080L;

    /** The bit in which the two cases of a letter differ. */
    private static final int CASE_BIT = 0x20;

    private final byte[] lower;

    /** The first and the last byte of the text, 8 times, and the bits that are set in both cases before a comparison. */
    private final long first;

    private final long firstCase;
    private final long last;
    private final long lastCase;

    /** @param text at least one byte */
    ByteSearch(byte[] text) {
        lower = text.clone();
        for (int i = 0; i < lower.length; i++) {
            lower[i] = lower(lower[i]);
        }
        first = (lower[0] & 0xffL) * EACH_BYTE;
        firstCase = caseBits(lower[0]);
        last = (lower[lower.length - 1] & 0xffL) * EACH_BYTE;
        lastCase = caseBits(lower[lower.length - 1]);
    }

    private static byte lower(byte b) {
        return b >= 'A' && b <= 'Z' ? (byte) (b | CASE_BIT) : b;
    }

    private static long caseBits(byte lower) {
        return lower >= 'a' && lower <= 'z' ? CASE_BIT * EACH_BYTE : 0;
    }

    /** Whether the readable bytes contain the text. */
    boolean isIn(ByteBuf bytes) {
        int behind = lower.length - 1;
        int from = bytes.readerIndex();
        int to = bytes.writerIndex() - behind;
        for (; from <= to - Long.BYTES; from += Long.BYTES) {
            long unlike = (bytes.getLong(from) | firstCase) ^ first;
            long unlikeLast = (bytes.getLong(from + behind) | lastCase) ^ last;
            long found = zeros(unlike) & zeros(unlikeLast);
            while (found != 0) {
                int index = Long.numberOfLeadingZeros(found) / Byte.SIZE; // the first byte is the highest
                if (isAt(bytes, from + index)) {
                    return true;
                }
                found &= ~(0x80L << (Long.SIZE - Byte.SIZE - Byte.SIZE * index));
            }
        }
        for (; from < to; from++) {
            if (isAt(bytes, from)) {
                return true;
            }
        }
        return false;
    }

    /** Has the highest bit of each byte set that is 0, and perhaps of others. */
    private static long zeros(long bytes) {
        return (bytes - EACH_BYTE) & ~bytes & HIGH_BITS;
    }

    private boolean isAt(ByteBuf bytes, int index) {
        for (int i = 0; i < lower.length; i++) {
            if (lower(bytes.getByte(index + i)) != lower[i]) {
                return false;
            }
        }
        return true;
    }
}
