package io.journalq.server.replication;

import java.util.ArrayDeque;

/**
 * The records that a leader has acknowledged so long ago that every other in-sync replica should have them. Looks at the
 * records at regular times only, so that they cost nothing. Pure and single-threaded.
 */
final class LoneAcknowledgements {
    private final ArrayDeque<Mark> marks = new ArrayDeque<>();
    /** All in-sync replicas should have everything before this by now. */
    private long lateOffset;

    /** Everything before {@code offset} had been acknowledged at a time. */
    private record Mark(long offset, long atMs) {}

    /**
     * Called regularly, also while no other replica is in sync: a replica that joins then must have the old records.
     *
     * @param acknowledgedOffset records before this may have been acknowledged
     * @param maxAgeMs how long ago records were acknowledged, at least, that are too old
     */
    void observe(long acknowledgedOffset, long maxAgeMs, long nowMs) {
        while (!marks.isEmpty() && nowMs - marks.peek().atMs() >= maxAgeMs) {
            lateOffset = marks.poll().offset();
        }
        long marked = marks.isEmpty() ? lateOffset : marks.peekLast().offset();
        if (acknowledgedOffset > marked) {
            marks.add(new Mark(acknowledgedOffset, nowMs));
        }
    }

    /** All in-sync replicas should have everything before this by now; 0 if nothing is that old. */
    long lateOffset() {
        return lateOffset;
    }
}
