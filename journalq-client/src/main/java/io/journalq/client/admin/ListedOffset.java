package io.journalq.client.admin;

/**
 * An offset that was asked for. Immutable.
 *
 * @param offset -1 when no record fits
 * @param timestampMs of that record, -1 when the request was not by time
 * @param leaderEpoch -1 when the broker does not tell
 */
public record ListedOffset(long offset, long timestampMs, int leaderEpoch) {
    /** Whether there is such an offset. */
    public boolean found() {
        return offset >= 0;
    }
}
