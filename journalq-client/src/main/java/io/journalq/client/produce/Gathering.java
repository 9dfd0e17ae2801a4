package io.journalq.client.produce;

import java.util.concurrent.TimeUnit;

/**
 * A pause between an answer and the next request, in which the senders whom the answer woke come back, so that the
 * request carries their records too. A request costs client and broker as much as tens of small records; sent at once it
 * would carry only those few that came while the one before was on its way, however many senders there are.
 *
 * <p>The pause ends when so much waits as is {@link #SHARE} of all that its senders had under way: more than half, so
 * that requests grow until they carry as many senders as there are; not all, so that client and broker work at the same
 * time. It lasts no longer than the last round trip, nor {@link #LONGEST_NANOS}. Where senders do not come back, because
 * they do other things between two sends, pauses become rare.
 *
 * <p>Belongs to the event loop, but for {@link #isCompletedBy}.
 */
final class Gathering {
    static final double SHARE = 0.6;
    static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** A request of this size, or of the largest allowed, gains nothing by more. */
    static final long FULL_BYTES = 512 * 1024;
    /** After requests that nobody answers. */
    static final long UNANSWERED_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
    /** Most answers without a pause between two trials. */
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
     * Whether a sender that takes bytes is the one for whom the pause lasted; it then wakes the loop. Any thread.
     *
     * @param usedBytes under way before it
     */
    boolean isCompletedBy(long usedBytes, long bytes) {
        long target = targetBytes;
        return usedBytes < target && usedBytes + bytes >= target;
    }

    boolean isOn() {
        return targetBytes > 0;
    }

    /**
     * After an answer: begins a pause if one is worth while. What senders take meanwhile the caller looks at once more,
     * with {@link #goesOn}.
     *
     * @param answeredBytes of the request that was answered
     * @param usedBytes under way now
     * @param inFlightBytes of those, in other requests
     * @return its longest duration; 0 when there is none
     */
    long begin(long answeredBytes, long usedBytes, long inFlightBytes, long nowNanos, long roundTripNanos) {
        if (skipsLeft > 0) {
            skipsLeft--;
            return 0;
        }
        long waitingBytes = usedBytes - inFlightBytes;
        long wantedBytes = Math.min(fullBytes, (long) (SHARE * (answeredBytes + waitingBytes)));
        if (waitingBytes >= wantedBytes) {
            return 0;
        }
        long longestNanos = Math.min(roundTripNanos, LONGEST_NANOS);
        endNanos = nowNanos + longestNanos;
        targetBytes = usedBytes + wantedBytes - waitingBytes;
        return longestNanos;
    }

    /**
     * After requests that nobody answers and for which no sender waits: begins a pause in which asynchronous senders put
     * records together, for with nothing to wait for each record would become a request of its own.
     *
     * @param usedBytes under way now
     * @return its longest duration
     */
    long beginUnanswered(long usedBytes, long nowNanos) {
        endNanos = nowNanos + UNANSWERED_NANOS;
        targetBytes = usedBytes + fullBytes;
        return UNANSWERED_NANOS;
    }

    /** Whether the pause is to last; ends it when not. */
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
