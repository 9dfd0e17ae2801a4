package io.journalq.client.internal.produce;

import io.journalq.client.error.BufferExhaustedException;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.InterruptedWaitException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Bounds the memory for records that are not acknowledged. Senders block while it is used up. Thread-safe. As long as
 * there is room, it costs one atomic addition per record. No other lock is acquired while its lock is held.
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
     * Reserves memory, and blocks until there is room. If no memory is in use, a request larger than the limit is
     * granted.
     *
     * @return the number of bytes that were in use before
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

    /** Makes all current and future waits fail. */
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
                    throw new BufferExhaustedException("the " + limitBytes + " bytes of buffer memory were full for "
                            + TimeUnit.NANOSECONDS.toMillis(maxBlockNanos)
                            + " ms; send less, check why the broker is slow, or raise bufferMemoryBytes");
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
