package io.journalq.client.admin;

/**
 * The result of an offset lookup. Immutable.
 *
 * @param offset the offset, or -1 if no record matches
 * @param timestampMs the timestamp of the record in milliseconds since 1970 UTC, or -1 if the lookup was not by time
 * @param leaderEpoch the leader epoch of the record, or -1 if the broker does not report it
 */
public record ListedOffset(long offset, long timestampMs, int leaderEpoch) {
    /** Whether a record matches. */
    public boolean found() {
        return offset >= 0;
    }
}
