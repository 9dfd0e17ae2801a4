package io.journalq.bench.traffic;

/**
 * What has happened so far.
 *
 * @param sent handed to the client library
 * @param confirmed acknowledged, or taken by the library where nothing is acknowledged
 * @param failed sent and not confirmed, for certain
 * @param received by all subscribers together, repetitions included
 * @param distinct received, without repetitions
 * @param corrupt received with a wrong checksum, or without a stamp
 */
public record TrafficCounts(long sent, long confirmed, long failed, long received, long distinct, long corrupt) {
    public long duplicated() {
        return received - distinct - corrupt;
    }

    /** What happened since {@code earlier}. */
    public TrafficCounts since(TrafficCounts earlier) {
        return new TrafficCounts(
                sent - earlier.sent,
                confirmed - earlier.confirmed,
                failed - earlier.failed,
                received - earlier.received,
                distinct - earlier.distinct,
                corrupt - earlier.corrupt);
    }
}
