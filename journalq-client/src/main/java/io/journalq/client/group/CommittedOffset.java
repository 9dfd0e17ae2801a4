package io.journalq.client.group;

import static io.journalq.client.internal.check.Arguments.notNull;

/**
 * The committed offset of a group in one partition. Immutable.
 *
 * @param offset the offset of the next record to read, at least 0
 * @param leaderEpoch the leader epoch of the last record that was read, or -1 if unknown
 * @param metadata text of the application; the broker limits its length (by default to 4,096 characters)
 */
public record CommittedOffset(long offset, int leaderEpoch, String metadata) {
    private static final int UNKNOWN_EPOCH = -1;

    public CommittedOffset {
        notNull(metadata, "metadata");
        if (offset < 0) {
            throw new IllegalArgumentException("the offset is " + offset + "; use 0 or more");
        }
    }

    /** Creates a committed offset without metadata. */
    public static CommittedOffset of(long offset) {
        return new CommittedOffset(offset, UNKNOWN_EPOCH, "");
    }

    /** Creates a committed offset with metadata of the application. */
    public static CommittedOffset of(long offset, String metadata) {
        return new CommittedOffset(offset, UNKNOWN_EPOCH, metadata);
    }
}
