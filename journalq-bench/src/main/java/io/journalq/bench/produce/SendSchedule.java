package io.journalq.bench.produce;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The times at which the calls of one caller are due. At a fixed rate, the schedule does not depend on the broker (an open
 * loop): a delayed caller makes its missed calls at once, and the latency of each counts from the time at which it was due.
 * One thread.
 */
public final class SendSchedule {
    private final long intervalNs;
    private long dueNs;

    private SendSchedule(long intervalNs, long firstNs) {
        this.intervalNs = intervalNs;
        this.dueNs = firstNs;
    }

    /**
     * The schedule of one caller.
     *
     * @param messagesPerSecond rate of all callers together; 0 for no schedule
     * @param messagesPerCall 1, or the size of a batch
     * @param caller number of the caller, from 0; the callers start one after the other
     */
    public static SendSchedule of(long messagesPerSecond, int messagesPerCall, int caller, int callers) {
        if (messagesPerSecond == 0) {
            return new SendSchedule(0, 0);
        }
        double callIntervalNs = 1e9 * messagesPerCall / messagesPerSecond;
        return new SendSchedule(
                Math.max(1, (long) (callIntervalNs * callers)), System.nanoTime() + (long) (callIntervalNs * caller));
    }

    public boolean hasSchedule() {
        return intervalNs > 0;
    }

    /** Waits until the next call is due, or {@code goOn} returns false. Returns the due time of {@link System#nanoTime}. */
    public long awaitNext(BooleanSupplier goOn) {
        if (!hasSchedule()) {
            return System.nanoTime();
        }
        long thisNs = dueNs;
        dueNs += intervalNs;
        long leftNs = thisNs - System.nanoTime();
        while (leftNs > 0 && goOn.getAsBoolean()) {
            LockSupport.parkNanos(leftNs);
            if (Thread.currentThread().isInterrupted()) {
                return thisNs;
            }
            leftNs = thisNs - System.nanoTime();
        }
        return thisNs;
    }
}
