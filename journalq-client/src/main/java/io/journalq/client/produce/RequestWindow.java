package io.journalq.client.produce;

/**
 * How many Produce requests one connection may have unanswered. While they are as many, batches gather, and the request
 * that follows carries more of them and more records in each: that costs broker and client far less than more requests
 * would. Where the way to the broker is short one is best: more only cut the same work into smaller pieces. Where it is
 * long, several keep it filled and spare senders the wait for an answer that is not theirs. The shortest round trip
 * there ever was tells the length of the way, for under load every one is longer. Belongs to the event loop.
 */
final class RequestWindow {
    static final int MOST = 8;
    /** Of the way's length there is one request for each of these: about what a request of some size takes to serve. */
    static final long NANOS_PER_REQUEST = 250_000;

    private long shortestRoundTripNanos = Long.MAX_VALUE;
    private int limit = 1;

    int limit() {
        return limit;
    }

    /** A request was answered. */
    void onAnswer(long roundTripNanos) {
        if (roundTripNanos < shortestRoundTripNanos) {
            shortestRoundTripNanos = roundTripNanos;
            limit = (int) Math.max(1, Math.min(MOST, roundTripNanos / NANOS_PER_REQUEST));
        }
    }
}
