package io.journalq.client.admin;

/**
 * Selects an offset of a partition. Immutable.
 *
 * @param timestampMs milliseconds since 1970 UTC, or one of the special negative values of the protocol
 */
public record OffsetSpec(long timestampMs) {
    private static final OffsetSpec LATEST = new OffsetSpec(-1L);
    private static final OffsetSpec EARLIEST = new OffsetSpec(-2L);
    private static final OffsetSpec MAX_TIMESTAMP = new OffsetSpec(-3L);
    private static final OffsetSpec EARLIEST_LOCAL = new OffsetSpec(-4L);

    /** The end of the partition, which is the offset of the next record appended. */
    public static OffsetSpec latest() {
        return LATEST;
    }

    /** The first offset of the partition. */
    public static OffsetSpec earliest() {
        return EARLIEST;
    }

    /** The offset of the record with the largest timestamp (KIP-734). */
    public static OffsetSpec maxTimestamp() {
        return MAX_TIMESTAMP;
    }

    /** The first offset on the local disk of the broker (KIP-405). */
    public static OffsetSpec earliestLocal() {
        return EARLIEST_LOCAL;
    }

    /** The offset of the first record at or after a time, in milliseconds since 1970 UTC. */
    public static OffsetSpec atOrAfter(long timestampMs) {
        if (timestampMs < 0) {
            throw new IllegalArgumentException("the timestamp is " + timestampMs + " ms; use 0 or more");
        }
        return new OffsetSpec(timestampMs);
    }
}
