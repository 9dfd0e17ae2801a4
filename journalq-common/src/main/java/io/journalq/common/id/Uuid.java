package io.journalq.common.id;

import java.nio.ByteBuffer;
import java.util.Base64;

/**
 * A 128-bit identifier of a topic, a directory or a cluster, printed as the protocol's tools print it: 22 characters of
 * URL-safe base64. Immutable.
 *
 * @param mostSignificantBits the first eight bytes on the wire
 * @param leastSignificantBits the last eight bytes on the wire
 */
public record Uuid(long mostSignificantBits, long leastSignificantBits) implements Comparable<Uuid> {
    /** All bits zero: on the wire it means that no identifier is given. */
    public static final Uuid ZERO = new Uuid(0L, 0L);

    /** Size on the wire. */
    public static final int SIZE_BYTES = 16;

    /**
     * Reads the 22-character form that {@link #toString} writes.
     *
     * @throws IllegalArgumentException when {@code text} is not 16 bytes of URL-safe base64
     */
    public static Uuid parse(String text) {
        byte[] bytes = Base64.getUrlDecoder().decode(text);
        if (bytes.length != SIZE_BYTES) {
            throw new IllegalArgumentException("not a 16-byte id in URL-safe base64: " + text);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new Uuid(buffer.getLong(), buffer.getLong());
    }

    @Override
    public int compareTo(Uuid other) {
        int most = Long.compare(mostSignificantBits, other.mostSignificantBits);
        return most != 0 ? most : Long.compare(leastSignificantBits, other.leastSignificantBits);
    }

    @Override
    public String toString() {
        ByteBuffer buffer = ByteBuffer.allocate(SIZE_BYTES);
        buffer.putLong(mostSignificantBits).putLong(leastSignificantBits);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(buffer.array());
    }
}
