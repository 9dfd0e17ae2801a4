package io.journalq.client.internal.produce;

/**
 * Limits the number of Produce requests in flight on a connection. While the limit is reached, records are collected,
 * so that the next request contains more of them; that costs client and broker much less than more requests.
 *
 * <p>On a short network path, one request in flight is best, because more of them only divide the same work. On a long
 * path, several requests use the path fully, and senders need not wait for a response to records of others. The
 * shortest round trip ever seen measures the path, because load only makes round trips longer. Belongs to the event
 * loop.
 */
final class RequestWindow {
    static final int MOST = 8;
    /**
     * One request is allowed for each of these in the shortest round trip. It is about the time to process a request of
     * medium size.
     */
    static final long NANOS_PER_REQUEST = 250_000;
    /** A response that takes longer is late: it waits for other brokers, and not for the work of this one. */
    static final long LATE_NANOS = 20_000_000;

    private long shortestRoundTripNanos = Long.MAX_VALUE;
    private int limit = 1;

    int limit() {
        return limit;
    }

    /** Whether a request has got a response. */
    boolean hasResponse() {
        return shortestRoundTripNanos != Long.MAX_VALUE;
    }

    /** Handles the response to a request. */
    void onResponse(long roundTripNanos) {
        if (roundTripNanos < shortestRoundTripNanos) {
            shortestRoundTripNanos = roundTripNanos;
            limit = (int) Math.max(1, Math.min(MOST, roundTripNanos / NANOS_PER_REQUEST));
        }
    }
}
