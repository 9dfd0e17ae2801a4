package io.journalq.server.shard.append;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The pending acknowledgements of one partition, in the order of offsets: for appends that are not written yet, for
 * appends that are written but not durable, and for appends that are safe here but not on every in-sync replica. Every
 * append is acknowledged or rejected once. On the partition's loop.
 */
final class PendingAcknowledgements {
    private static final long NANOS_OF_A_MS = TimeUnit.MILLISECONDS.toNanos(1);

    private final LoopCycle cycle;

    /** Null until the first append, like {@code unflushed}: with very many partitions, most are idle. */
    private ArrayDeque<Append> unwritten;

    private ArrayDeque<Append> unflushed;

    /** Null until an append waits for other replicas. */
    private ArrayDeque<Append> unreplicated;

    /** Ends at the earliest deadline of {@link #unreplicated}, or earlier. Null if there is none. */
    private Loop.Timer timer;

    private long timerNanos;

    PendingAcknowledgements(LoopCycle cycle) {
        this.cycle = cycle;
    }

    /** Adds a staged append. */
    void add(Append append) {
        if (unwritten == null) {
            unwritten = new ArrayDeque<>();
            unflushed = new ArrayDeque<>();
        }
        unwritten.add(append);
    }

    /** Moves the appends that waited to be written to those that wait to be durable. */
    void awaitDurability() {
        if (unwritten != null) {
            unflushed.addAll(unwritten);
            unwritten.clear();
        }
    }

    /** Acknowledges the appends before {@code offset} for which a write is sufficient. */
    void completeWritten(long offset, long logStartOffset) {
        completeUpTo(unwritten, offset, logStartOffset);
    }

    /** Acknowledges the appends before {@code offset}, which are durable. */
    void completeDurable(long offset, long logStartOffset) {
        completeUpTo(unflushed, offset, logStartOffset);
    }

    private static void completeUpTo(ArrayDeque<Append> waiting, long offset, long logStartOffset) {
        if (waiting == null) {
            return;
        }
        for (Append head = waiting.peek(); head != null && head.nextOffset() <= offset; head = waiting.peek()) {
            waiting.poll().complete(logStartOffset);
        }
    }

    /**
     * Like {@link #completeWritten}, with other replicas: acknowledges the appends for which this replica is
     * sufficient, and lets the rest wait for {@link #completeReplicated}.
     *
     * @param all whether all appends wait for the other replicas, whatever their senders ask for
     * @return the offset behind the last append that was acknowledged; 0 if none was
     */
    long replicateWritten(long offset, boolean all, long logStartOffset) {
        return replicateUpTo(unwritten, offset, all, logStartOffset);
    }

    /** Like {@link #replicateWritten}, for appends that are durable here. */
    long replicateDurable(long offset, boolean all, long logStartOffset) {
        return replicateUpTo(unflushed, offset, all, logStartOffset);
    }

    private long replicateUpTo(ArrayDeque<Append> waiting, long offset, boolean all, long logStartOffset) {
        long acknowledged = 0;
        if (waiting == null) {
            return acknowledged;
        }
        for (Append head = waiting.peek(); head != null && head.nextOffset() <= offset; head = waiting.peek()) {
            waiting.poll();
            if (all || head.acks() == RequiredAcks.ALL) {
                awaitReplicas(head);
            } else {
                acknowledged = Math.max(acknowledged, head.nextOffset());
                head.complete(logStartOffset);
            }
        }
        return acknowledged;
    }

    /**
     * Acknowledges the appends that wait for other replicas although their senders do not ask for that.
     *
     * @return the offset behind the last one; 0 if there was none
     */
    long completeUnheld(long logStartOffset) {
        List<Append> held = takeUnreplicated(false);
        long acknowledged = 0;
        for (Append append : held) {
            acknowledged = Math.max(acknowledged, append.nextOffset());
            append.complete(logStartOffset);
        }
        return acknowledged;
    }

    /** Removes the appends that wait for other replicas, and whose senders do or do not ask for that. */
    private List<Append> takeUnreplicated(boolean asked) {
        List<Append> taken = new ArrayList<>();
        if (unreplicated != null) {
            unreplicated.removeIf(append -> (append.acks() == RequiredAcks.ALL) == asked && taken.add(append));
        }
        return taken;
    }

    private void awaitReplicas(Append append) {
        if (unreplicated == null) {
            unreplicated = new ArrayDeque<>();
        }
        unreplicated.add(append);
        append.beginWait(cycle.loop().nanoTime());
        startTimer(append.deadlineNanos());
    }

    /** Acknowledges the appends before {@code offset}, which are on every in-sync replica. */
    void completeReplicated(long offset, long logStartOffset) {
        completeUpTo(unreplicated, offset, logStartOffset);
    }

    /** Starts a timer, unless one ends earlier. It is not stopped when appends are acknowledged before its end. */
    private void startTimer(long deadlineNanos) {
        if (timer != null) {
            if (timerNanos - deadlineNanos <= 0) {
                return;
            }
            timer.cancel();
        }
        timerNanos = deadlineNanos;
        long delayNanos = Math.max(0, deadlineNanos - cycle.loop().nanoTime());
        long delayMs = TimeUnit.NANOSECONDS.toMillis(delayNanos + NANOS_OF_A_MS - 1);
        timer = cycle.loop().schedule(this::onTimer, delayMs);
    }

    private void onTimer() {
        timer = null;
        long nowNanos = cycle.loop().nanoTime();
        List<Append> late = new ArrayList<>();
        unreplicated.removeIf(append -> append.deadlineNanos() - nowNanos <= 0 && late.add(append));
        if (!unreplicated.isEmpty()) {
            long earliestNanos = unreplicated.peek().deadlineNanos();
            for (Append append : unreplicated) {
                if (append.deadlineNanos() - earliestNanos < 0) {
                    earliestNanos = append.deadlineNanos();
                }
            }
            startTimer(earliestNanos);
        }
        late.forEach(append -> append.refuse(ErrorCode.REQUEST_TIMED_OUT, null));
    }

    /**
     * Rejects the appends that are in this log and wait for other replicas.
     *
     * @param all whether also those are rejected whose senders do not ask for the other replicas
     */
    void refuseUnreplicated(boolean all, ErrorCode error, String message) {
        if (unreplicated == null || unreplicated.isEmpty()) {
            return;
        }
        takeUnreplicated(true).forEach(append -> append.refuse(error, message));
        if (all) {
            takeUnreplicated(false).forEach(append -> append.refuse(error, message));
        }
    }

    /** Rejects the appends behind {@code keptOffset}, which could not be written and are dropped. */
    void refuseUnwritten(long keptOffset, IOException failure) {
        if (unwritten == null) {
            return;
        }
        List<Append> lost = new ArrayList<>();
        for (Append append : unwritten) {
            if (append.nextOffset() > keptOffset) {
                lost.add(append);
            }
        }
        unwritten.removeAll(lost);
        refuseByDisk(lost, failure);
    }

    /** Rejects the appends that are written, because it is unknown which of them survive. */
    void refuseUnflushed(IOException failure) {
        if (unflushed != null) {
            List<Append> lost = List.copyOf(unflushed);
            unflushed.clear();
            refuseByDisk(lost, failure);
        }
    }

    private void refuseByDisk(List<Append> lost, IOException failure) {
        cycle.counters().onRefusedByDisk(lost.size());
        lost.forEach(append -> append.refuse(ErrorCode.KAFKA_STORAGE_ERROR, failure.getMessage()));
    }

    /** Rejects all appends, because nothing more will be written. */
    void refuseAll(ErrorCode error) {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
        refuseUnreplicated(true, error, null);
        refuseAll(unflushed, error);
        refuseAll(unwritten, error);
    }

    private static void refuseAll(ArrayDeque<Append> waiting, ErrorCode error) {
        while (waiting != null && !waiting.isEmpty()) {
            waiting.poll().refuse(error, null);
        }
    }
}
