package io.journalq.client.group;

import java.util.Objects;

/**
 * Where a group goes on in one partition. Immutable.
 *
 * @param offset of the next record to read, 0 or more
 * @param leaderEpoch of the last record that was read, -1 when not known
 * @param metadata what the application keeps with it; the broker bounds its length (4,096 characters by default)
 */
public record CommittedOffset(long offset, int leaderEpoch, String metadata) {
    private static final int UNKNOWN_EPOCH = -1;

    public CommittedOffset {
        Objects.requireNonNull(metadata, "metadata is never null; use an empty text");
        if (offset < 0) {
            throw new IllegalArgumentException("offset " + offset + "; use 0 or more");
        }
    }

    /** An offset alone. */
    public static CommittedOffset of(long offset) {
        return new CommittedOffset(offset, UNKNOWN_EPOCH, "");
    }

    /** An offset with something of the application's. */
    public static CommittedOffset of(long offset, String metadata) {
        return new CommittedOffset(offset, UNKNOWN_EPOCH, metadata);
    }
}
