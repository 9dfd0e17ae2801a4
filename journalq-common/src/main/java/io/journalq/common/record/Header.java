package io.journalq.common.record;

import java.util.Arrays;
import java.util.Objects;

/** A record's header. Immutable as long as nobody writes to the array, which is not copied. */
public final class Header {
    private final String key;
    private final byte[] value;

    /**
     * A header.
     *
     * @param key not null; need not be unique in its record
     * @param value null allowed
     */
    public Header(String key, byte[] value) {
        this.key = Objects.requireNonNull(key, "key");
        this.value = value;
    }

    public String key() {
        return key;
    }

    /** The value itself, no copy; may be null. */
    public byte[] value() {
        return value;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Header header && key.equals(header.key) && Arrays.equals(value, header.value);
    }

    @Override
    public int hashCode() {
        return 31 * key.hashCode() + Arrays.hashCode(value);
    }

    @Override
    public String toString() {
        return key + "=" + (value == null ? "null" : value.length + " bytes");
    }
}
