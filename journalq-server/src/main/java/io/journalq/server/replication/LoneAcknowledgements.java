package io.journalq.server.replication;

import java.util.ArrayDeque;

/**
 * The records that a leader has acknowledged so long ago that every other in-sync replica should have them. Looks at the
 * records at regular times only, so that they cost nothing: what is new at one time may have been acknowledged just after
 * the time before, which is long ago if this process did not run in between. Pure and single-threaded.
 */
final class LoneAcknowledgements {
    private static final long NEVER = Long.MIN_VALUE;

    private final ArrayDeque<Mark> marks = new ArrayDeque<>();
    private long observedMs = NEVER;
    /** All in-sync replicas should have everything before this by now. */
    private long lateOffset;

    /** The records between the mark before and {@code offset} were acknowledged at {@code fromMs} at the earliest. */
    private record Mark(long offset, long fromMs) {}

    /**
     * Called regularly, also while no other replica is in sync: a replica that joins then must have the old records.
     *
     * @param acknowledgedOffset records before this may have been acknowledged
     * @param maxAgeMs how long ago records were acknowledged, at least, that are too old
     */
    void observe(long acknowledgedOffset, long maxAgeMs, long nowMs) {
        long marked = marks.isEmpty() ? lateOffset : marks.peekLast().offset();
        if (acknowledgedOffset > marked) {
            marks.add(new Mark(acknowledgedOffset, observedMs == NEVER ? nowMs : observedMs));
        }
        observedMs = nowMs;
        while (!marks.isEmpty() && nowMs - marks.peek().fromMs() >= maxAgeMs) {
            lateOffset = marks.poll().offset();
        }
    }

    /** All in-sync replicas should have everything before this by now; 0 if nothing is that old. */
    long lateOffset() {
        return lateOffset;
    }
}
