package io.journalq.client.produce;

import io.journalq.client.error.BufferExhaustedException;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.InterruptedWaitException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Counts the bytes of records between send and acknowledgement, and makes senders wait while there are too many.
 * Thread-safe; costs one atomic addition while there is room. Its lock is a leaf: nothing else is taken under it.
 */
final class BufferMemory {
    private final long limitBytes;
    private final long maxBlockNanos;
    private final AtomicLong used = new AtomicLong();
    private final AtomicInteger waiting = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition room = lock.newCondition();
    private volatile boolean closed;

    BufferMemory(long limitBytes, long maxBlockMs) {
        this.limitBytes = limitBytes;
        this.maxBlockNanos = TimeUnit.MILLISECONDS.toNanos(maxBlockMs);
    }

    /**
     * Takes bytes, waiting for room if need be. A request larger than the limit is let through when nothing else is in
     * use.
     *
     * @return how much was in use before
     */
    long acquire(long bytes) {
        long before = used.getAndAdd(bytes);
        if (fits(before, bytes)) {
            return before;
        }
        used.addAndGet(-bytes);
        await(bytes);
        return limitBytes;
    }

    void release(long bytes) {
        used.addAndGet(-bytes);
        if (waiting.get() > 0) {
            signalAll();
        }
    }

    long usedBytes() {
        return used.get();
    }

    /** Sends that wait, now or later, fail. */
    void close() {
        closed = true;
        signalAll();
    }

    private boolean fits(long before, long bytes) {
        return before == 0 || before + bytes <= limitBytes;
    }

    private boolean tryAcquire(long bytes) {
        long before = used.get();
        while (fits(before, bytes)) {
            if (used.compareAndSet(before, before + bytes)) {
                return true;
            }
            before = used.get();
        }
        return false;
    }

    private void await(long bytes) {
        long leftNanos = maxBlockNanos;
        waiting.incrementAndGet();
        lock.lock();
        try {
            while (!tryAcquire(bytes)) {
                if (closed) {
                    throw new ClientClosedException("the producer was closed while a send waited for buffer memory");
                }
                if (leftNanos <= 0) {
                    throw new BufferExhaustedException("the " + limitBytes + " bytes of buffer memory stayed full for "
                            + TimeUnit.NANOSECONDS.toMillis(maxBlockNanos)
                            + " ms; send less, see why the broker is slow, or raise bufferMemoryBytes");
                }
                leftNanos = room.awaitNanos(leftNanos);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedWaitException("interrupted while a send waited for buffer memory", e);
        } finally {
            lock.unlock();
            waiting.decrementAndGet();
        }
    }

    private void signalAll() {
        lock.lock();
        try {
            room.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
