package io.journalq.server.journal.segment;

/** Finds the one flipped bit that explains a wrong CRC-32C. */
public final class FlippedBit {
    /** No single bit explains the difference. */
    public static final long NONE = -1;

    /** CRC-32C, bit-reversed. */
    private static final int POLYNOMIAL = 0x82F63B78;

    private FlippedBit() {}

    /**
     * Finds the bit whose flip changes the CRC of {@code bytes} bytes by {@code difference}.
     *
     * @param difference the right CRC, XOR the wrong one
     * @return the bit's number, counted from the first byte and, within a byte, from the least significant bit;
     *     {@link #NONE} if there is none
     */
    public static long find(int difference, long bytes) {
        int ofThisBit = 1;
        for (long bit = bytes * Byte.SIZE - 1; bit >= 0; bit--) {
            ofThisBit = (ofThisBit >>> 1) ^ ((ofThisBit & 1) * POLYNOMIAL);
            if (ofThisBit == difference) {
                return bit;
            }
        }
        return NONE;
    }
}
