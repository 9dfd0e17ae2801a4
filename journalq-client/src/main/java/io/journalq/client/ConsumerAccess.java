package io.journalq.client;

import io.journalq.client.internal.network.Cluster;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Admits one thread at a time to a consumer, and none once it is closed. The thread that closes the consumer waits until
 * the one that uses it has left. Thread-safe.
 */
final class ConsumerAccess {
    private static final long RECHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final AtomicReference<Thread> user = new AtomicReference<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile Thread closer;
    /** What the user called first. */
    private volatile String method = "";
    /** The number of nested calls, because a listener may use the consumer. Belongs to the user. */
    private int depth;

    /**
     * Runs one call of the API.
     *
     * @throws IllegalStateException if another thread uses the consumer
     * @throws io.journalq.client.error.ClientClosedException if the consumer is closed
     */
    <T> T call(String name, Supplier<T> body) {
        enter(name);
        try {
            return body.get();
        } finally {
            leave();
        }
    }

    /** Runs one call of the API without a result. See {@link #call}. */
    void run(String name, Runnable body) {
        enter(name);
        try {
            body.run();
        } finally {
            leave();
        }
    }

    /** Throws if the consumer is closed, except in the thread that is closing it. Any thread. */
    void requireOpen() {
        if (closed.get() && user.get() != Thread.currentThread()) {
            throw Cluster.closedClient();
        }
    }

    /** Whether the consumer is closed or being closed. Any thread. */
    boolean isClosed() {
        return closed.get();
    }

    /**
     * Begins to close the consumer. Waits until the thread that uses it has left. {@link #leave} ends it.
     *
     * @param endWaits makes that thread leave soon
     * @return false if the consumer is closed or being closed
     * @throws IllegalStateException if the calling thread uses the consumer, because it runs a listener
     */
    boolean beginClose(Runnable endWaits) {
        Thread current = Thread.currentThread();
        if (user.get() == current && !closed.get()) {
            throw new IllegalStateException(
                    "a rebalance listener must not call close; throw an exception, and close the consumer outside of "
                            + method);
        }
        if (!closed.compareAndSet(false, true)) {
            return false;
        }
        closer = current;
        boolean interrupted = false;
        while (!user.compareAndSet(null, current)) {
            endWaits.run();
            LockSupport.parkNanos(this, RECHECK_NANOS);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            current.interrupt();
        }
        depth = 1;
        method = "close";
        return true;
    }

    /** Begins a call of the API. See {@link #call}. */
    void enter(String name) {
        Thread current = Thread.currentThread();
        if (user.get() == current) {
            depth++;
            return;
        }
        requireOpen();
        Thread other = user.compareAndExchange(null, current);
        if (other != null) {
            requireOpen();
            throw new IllegalStateException("thread " + nameOf(current) + " called " + name + " while thread "
                    + nameOf(other) + " is in " + method
                    + "; only one thread at a time may use a consumer, but any thread may call wakeup and close");
        }
        depth = 1;
        if (closed.get()) {
            leave();
            throw Cluster.closedClient();
        }
        method = name;
    }

    /** Ends a call that {@link #enter} began. */
    void leave() {
        if (--depth == 0) {
            user.set(null);
            LockSupport.unpark(closer);
        }
    }

    private static String nameOf(Thread thread) {
        return thread.getName().isEmpty() ? "#" + thread.getId() : "\"" + thread.getName() + "\"";
    }
}
