package io.journalq.server.loop;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The work that one iteration of a loop has handed over to other loops. Collects their results, so that the first loop
 * runs them together: it is woken once, and flushes each of its connections once, instead of once for each other loop.
 *
 * <p>If one of the loops takes longer than {@link #MAX_HOLD_NANOS}, the results of the others no longer wait for it: the
 * first loop runs them in its next iteration, and those that arrive later at once.
 *
 * <p>{@link #run} and {@link #isOver} are called on the loop that handed over, {@link #complete} on the others.
 */
final class HandOverRound implements Runnable {
    /** Time for which results wait for those of other loops: many usual iterations, but no stall that clients notice. */
    static final long MAX_HOLD_NANOS = 5_000_000;

    private final long begunNanos;
    private final AtomicInteger outstanding;
    private final AtomicReference<Results> results = new AtomicReference<>();

    /** Results no longer wait for those of other loops. */
    private volatile boolean open;

    /** The results of one loop, and those that other loops have added before. */
    private record Results(List<Runnable> work, Results next) {}

    /**
     * @param loops number of loops that work is handed over to
     * @param begunNanos when it is handed over, in the time of {@link Loop#nanoTime}
     */
    HandOverRound(int loops, long begunNanos) {
        this.outstanding = new AtomicInteger(loops);
        this.begunNanos = begunNanos;
    }

    /**
     * A loop has finished its part. Called once for each loop.
     *
     * @param work its results, which run on the loop that handed over; null if there are none yet
     * @return whether that loop has to run this round now
     */
    boolean complete(List<Runnable> work, long nowNanos) {
        if (work != null) {
            add(work);
        }
        boolean last = outstanding.decrementAndGet() == 0;
        return results.get() != null && (last || open || nowNanos - begunNanos > MAX_HOLD_NANOS);
    }

    private void add(List<Runnable> work) {
        Results before;
        do {
            before = results.get();
        } while (!results.compareAndSet(before, new Results(work, before)));
    }

    /** Whether all loops have finished, or results have waited for the maximum time. The loop then calls {@link #run}. */
    boolean isOver(long nowNanos) {
        return outstanding.get() == 0 || nowNanos - begunNanos > MAX_HOLD_NANOS;
    }

    /** Runs the results that have arrived. Results that arrive later do not wait. */
    @Override
    public void run() {
        open = true;
        for (Results next = results.getAndSet(null); next != null; next = next.next()) {
            LoopCycle.runAll(next.work());
        }
    }
}
