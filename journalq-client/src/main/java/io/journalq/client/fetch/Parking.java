package io.journalq.client.fetch;

import io.journalq.client.JournalQException;
import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.RequestTimedOutException;
import io.journalq.client.error.WakeupException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Where the consumer's thread waits: for records, for the group, for answers. One thread waits at a time; any thread
 * signals.
 */
public final class Parking {
    private volatile Thread waiter;
    private volatile boolean wakeup;

    /** Something came: whoever waits looks again. Any thread. */
    public void signal() {
        Thread waiting = waiter;
        if (waiting != null) {
            LockSupport.unpark(waiting);
        }
    }

    /** Breaks the wait under way off, or the next one. Any thread. */
    public void wakeup() {
        wakeup = true;
        signal();
    }

    /** Throws if {@link #wakeup} was called since it last did. */
    public void throwIfWokenUp() {
        if (wakeup) {
            wakeup = false;
            throw new WakeupException("wakeup() was called; poll again, or close the consumer");
        }
    }

    /** Waits until {@code ready}, a signal, or the time is over. May return early. */
    public void await(long nanos, BooleanSupplier ready, String what) {
        waiter = Thread.currentThread();
        try {
            if (!wakeup && !ready.getAsBoolean()) {
                LockSupport.parkNanos(this, nanos);
            }
        } finally {
            waiter = null;
        }
        if (Thread.interrupted()) {
            Thread.currentThread().interrupt();
            throw new InterruptedWaitException("interrupted while waiting for " + what, null);
        }
    }

    /**
     * Waits for a result.
     *
     * @param what for messages: "the commit"
     * @throws JournalQException what it failed with, or that the time is over
     */
    public <T> T join(CompletableFuture<T> result, long timeoutMs, String what) {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        var unused = result.whenComplete((value, failure) -> signal());
        while (!result.isDone()) {
            throwIfWokenUp();
            long leftNanos = endNanos - System.nanoTime();
            if (leftNanos <= 0) {
                throw new RequestTimedOutException(what + " was not done within " + timeoutMs
                        + " ms; check that the broker runs, or raise callTimeoutMs");
            }
            await(leftNanos, result::isDone, what);
        }
        try {
            return result.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof JournalQException known) {
                throw known;
            }
            throw e;
        }
    }
}
