package io.journalq.client.internal.produce;

import java.util.concurrent.TimeUnit;

/**
 * A pause between a response and the next request. In this pause, the senders that the response has woken return, so
 * that the next request contains their records too. A request costs the client and the broker as much as tens of small
 * records. Without the pause, a request would contain only the few records that arrived while the previous one was in
 * flight, no matter how many senders there are.
 *
 * <p>The pause ends when the waiting bytes reach {@link #SHARE} of the bytes that its senders had in flight. A share
 * above one half makes requests grow until they contain the records of all senders. A share below one keeps client and
 * broker working at the same time. The pause lasts at most as long as the last round trip, and at most {@link
 * #LONGEST_NANOS}. If senders do not return, because they do other work between two sends, pauses become less frequent.
 *
 * <p>Belongs to the event loop, except {@link #isCompletedBy}.
 */
final class Gathering {
    static final double SHARE = 0.6;
    static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** Larger requests than this, or than the configured maximum, bring no advantage. */
    static final long FULL_BYTES = 512 * 1024;
    /** The duration of a pause after requests without a response. */
    static final long NO_RESPONSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
    /** The maximum number of responses without a pause between two attempts. */
    static final int MOST_SKIPPED = 64;

    private final long fullBytes;
    private volatile long targetBytes;
    private long endNanos;
    private int skipAfterFailure = 1;
    private int skipsLeft;

    Gathering(long maxRequestSizeBytes) {
        this.fullBytes = Math.min(maxRequestSizeBytes, FULL_BYTES);
    }

    /**
     * Whether a sender adds the bytes for which the pause was waiting. It then wakes the loop. Any thread.
     *
     * @param usedBytes the bytes in use before
     */
    boolean isCompletedBy(long usedBytes, long bytes) {
        long target = targetBytes;
        return usedBytes < target && usedBytes + bytes >= target;
    }

    boolean isOn() {
        return targetBytes > 0;
    }

    /**
     * Starts a pause after a response, if it is worthwhile. The caller then checks once more with {@link #goesOn}
     * whether senders have added records in the meantime.
     *
     * @param completedBytes the bytes of the request that was completed
     * @param usedBytes the bytes in use now
     * @param inFlightBytes the part of them that is in other requests
     * @return the maximum duration of the pause, or 0 if there is none
     */
    long begin(long completedBytes, long usedBytes, long inFlightBytes, long nowNanos, long roundTripNanos) {
        if (skipsLeft > 0) {
            skipsLeft--;
            return 0;
        }
        long waitingBytes = usedBytes - inFlightBytes;
        long wantedBytes = Math.min(fullBytes, (long) (SHARE * (completedBytes + waitingBytes)));
        if (waitingBytes >= wantedBytes) {
            return 0;
        }
        long longestNanos = Math.min(roundTripNanos, LONGEST_NANOS);
        endNanos = nowNanos + longestNanos;
        targetBytes = usedBytes + wantedBytes - waitingBytes;
        return longestNanos;
    }

    /**
     * Starts a pause after requests without a response, for which no sender waits. In the pause, asynchronous senders
     * collect records. Otherwise, each record would become a request of its own, because nothing delays it.
     *
     * @param usedBytes the bytes in use now
     * @return the maximum duration of the pause
     */
    long beginWithoutResponse(long usedBytes, long nowNanos) {
        endNanos = nowNanos + NO_RESPONSE_NANOS;
        targetBytes = usedBytes + fullBytes;
        return NO_RESPONSE_NANOS;
    }

    /** Whether the pause continues. Ends it if not. */
    boolean goesOn(long usedBytes, long nowNanos) {
        boolean reached = usedBytes >= targetBytes;
        if (!reached && nowNanos - endNanos < 0) {
            return true;
        }
        targetBytes = 0;
        if (reached) {
            skipAfterFailure = 1;
        } else {
            skipsLeft = skipAfterFailure;
            skipAfterFailure = Math.min(MOST_SKIPPED, 2 * skipAfterFailure);
        }
        return false;
    }
}
