package io.journalq.common.record;

import java.util.Arrays;
import java.util.Objects;

/** A header of a record. Immutable if the array, which is not copied, is not modified. */
public final class Header {
    private final String key;
    private final byte[] value;

    /**
     * Creates a header.
     *
     * @param key not null; several headers of a record can have the same key
     * @param value may be null
     */
    public Header(String key, byte[] value) {
        this.key = Objects.requireNonNull(key, "key");
        this.value = value;
    }

    public String key() {
        return key;
    }

    /** The value itself, not a copy; may be null. */
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
