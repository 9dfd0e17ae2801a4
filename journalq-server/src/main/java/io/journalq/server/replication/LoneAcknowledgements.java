package io.journalq.server.replication;

import java.util.ArrayDeque;

/**
 * The records that a leader has acknowledged while other in-sync replicas did not have them yet, and which of these are
 * too old. Looks at them at regular times only, so that records cost nothing. Pure and single-threaded.
 */
final class LoneAcknowledgements {
    private final ArrayDeque<Mark> marks = new ArrayDeque<>();
    /** All in-sync replicas should have everything before this by now. */
    private long lateOffset;

    /** Everything before {@code offset} had been acknowledged at a time. */
    private record Mark(long offset, long atMs) {}

    /**
     * Called regularly.
     *
     * @param acknowledgedOffset records before this may have been acknowledged
     * @param replicatedOffset all in-sync replicas have everything before this
     * @param maxAgeMs how long ago records were acknowledged, at least, that are too old
     */
    void observe(long acknowledgedOffset, long replicatedOffset, long maxAgeMs, long nowMs) {
        while (!marks.isEmpty() && marks.peek().offset() <= replicatedOffset) {
            marks.poll();
        }
        while (!marks.isEmpty() && nowMs - marks.peek().atMs() >= maxAgeMs) {
            lateOffset = marks.poll().offset();
        }
        long marked = marks.isEmpty()
                ? Math.max(lateOffset, replicatedOffset)
                : marks.peekLast().offset();
        if (acknowledgedOffset > marked) {
            marks.add(new Mark(acknowledgedOffset, nowMs));
        }
    }

    /** All in-sync replicas should have everything before this by now; 0 if nothing was late. */
    long lateOffset() {
        return lateOffset;
    }
}
