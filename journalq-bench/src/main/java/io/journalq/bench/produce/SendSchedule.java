package io.journalq.bench.produce;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * When the next call of one caller is due. At a fixed rate the schedule goes on whatever the broker does: a caller that
 * was held up makes its missed calls at once, and each counts from the moment at which it was due (an open loop). One
 * thread.
 */
public final class SendSchedule {
    private final long intervalNs;
    private long dueNs;

    private SendSchedule(long intervalNs, long firstNs) {
        this.intervalNs = intervalNs;
        this.dueNs = firstNs;
    }

    /**
     * The share of one caller.
     *
     * @param messagesPerSecond over all callers; 0 for no schedule at all
     * @param messagesPerCall 1, or the size of a batch
     * @param caller zero-based; callers begin one after the other
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

    /** Waits until the next call is due or {@code goOn} says no; returns when it was due, in nanoseconds. */
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
