package io.journalq.common.id;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Random;

/**
 * A 128-bit id of a topic, directory or cluster. Its string form is that of Kafka's tools: 22 characters of URL-safe
 * base64. Immutable.
 *
 * @param mostSignificantBits the first eight bytes on the wire
 * @param leastSignificantBits the last eight bytes on the wire
 */
public record Uuid(long mostSignificantBits, long leastSignificantBits) implements Comparable<Uuid> {
    /** All bits are zero. On the wire it means that there is no id. */
    public static final Uuid ZERO = new Uuid(0L, 0L);

    /** The size on the wire, in bytes. */
    public static final int SIZE_BYTES = 16;

    /**
     * Parses the string form that {@link #toString} returns.
     *
     * @throws IllegalArgumentException if {@code text} is not 16 bytes in URL-safe base64
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

    /** A random id. Its text does not begin with "-", so that no command takes it for an option. */
    public static Uuid random(Random random) {
        Uuid id;
        do {
            id = new Uuid(random.nextLong(), random.nextLong());
        } while (id.toString().startsWith("-"));
        return id;
    }

    @Override
    public String toString() {
        ByteBuffer buffer = ByteBuffer.allocate(SIZE_BYTES);
        buffer.putLong(mostSignificantBits).putLong(leastSignificantBits);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(buffer.array());
    }
}
