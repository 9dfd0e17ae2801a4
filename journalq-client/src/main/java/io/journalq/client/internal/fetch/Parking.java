package io.journalq.client.internal.fetch;

import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.RequestTimedOutException;
import io.journalq.client.error.WakeupException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Where the thread of a consumer waits: for records, group changes and responses. One thread at a time waits; any
 * thread can signal it.
 */
public final class Parking {
    private volatile Thread waiter;
    private volatile boolean wakeup;
    private volatile boolean ended;

    /** Makes the waiting thread check its condition. Any thread. */
    public void signal() {
        Thread waiting = waiter;
        if (waiting != null) {
            LockSupport.unpark(waiting);
        }
    }

    /** Interrupts the current wait, or the next one. Any thread. */
    public void wakeup() {
        wakeup = true;
        signal();
    }

    /** Ends the current wait and all further ones with {@link ClientClosedException}. Any thread. */
    public void endAll() {
        ended = true;
        signal();
    }

    /** Allows waits again, so that a consumer that closes can still leave its group. */
    public void resume() {
        ended = false;
    }

    /** Throws if all waits have ended, or if {@link #wakeup} has been called since this method last threw for it. */
    public void throwIfWokenUp() {
        if (ended) {
            throw new ClientClosedException("another thread closed the consumer during this call; build another one");
        }
        if (wakeup) {
            wakeup = false;
            throw new WakeupException("wakeup() was called; poll again, or close the consumer");
        }
    }

    /** Waits until {@code ready}, a signal, or the timeout. Can return early. */
    public void await(long nanos, BooleanSupplier ready, String what) {
        waiter = Thread.currentThread();
        try {
            if (!wakeup && !ended && !ready.getAsBoolean()) {
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
     * @param what the subject of error messages, such as "the commit"
     * @throws JournalQException if the result is a failure or does not arrive in time
     */
    public <T> T join(CompletableFuture<T> result, long timeoutMs, String what) {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        var unused = result.whenComplete((value, failure) -> signal());
        while (!result.isDone()) {
            throwIfWokenUp();
            long leftNanos = endNanos - System.nanoTime();
            if (leftNanos <= 0) {
                throw new RequestTimedOutException(what + " did not complete within " + timeoutMs
                        + " ms; check that the broker is running, or raise callTimeout");
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
