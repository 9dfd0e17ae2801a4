package io.journalq.client.admin;

/**
 * Which offset of a partition is asked for. Immutable.
 *
 * @param timestampMs milliseconds since 1970 UTC, or one of the protocol's special negative values
 */
public record OffsetSpec(long timestampMs) {
    private static final OffsetSpec LATEST = new OffsetSpec(-1L);
    private static final OffsetSpec EARLIEST = new OffsetSpec(-2L);
    private static final OffsetSpec MAX_TIMESTAMP = new OffsetSpec(-3L);
    private static final OffsetSpec EARLIEST_LOCAL = new OffsetSpec(-4L);

    /** The offset that the next record will have. */
    public static OffsetSpec latest() {
        return LATEST;
    }

    /** The first offset still there. */
    public static OffsetSpec earliest() {
        return EARLIEST;
    }

    /** The record with the largest timestamp (KIP-734). */
    public static OffsetSpec maxTimestamp() {
        return MAX_TIMESTAMP;
    }

    /** The first offset on the broker's own disk (KIP-405). */
    public static OffsetSpec earliestLocal() {
        return EARLIEST_LOCAL;
    }

    /** The first record at or after a time. */
    public static OffsetSpec atOrAfter(long timestampMs) {
        if (timestampMs < 0) {
            throw new IllegalArgumentException("timestamp " + timestampMs + " ms; use 0 or more");
        }
        return new OffsetSpec(timestampMs);
    }
}
