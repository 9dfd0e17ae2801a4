package io.journalq.bench.peer;

import io.journalq.bench.peer.PubSubDriver.Subscriber;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A bounded queue between a library that pushes messages and a subscriber that polls. If it is full, the library waits, and
 * with it the broker. One thread polls; any thread may add.
 */
final class ReceiveQueue {
    private static final int CAPACITY_MESSAGES = 10_000;

    private static final int MAX_POLL_MESSAGES = 1_000;
    private static final long CHECK_INTERVAL_MS = 100;

    private final BlockingQueue<byte[]> queue = new ArrayBlockingQueue<>(CAPACITY_MESSAGES);
    private volatile boolean ended;

    /** Adds a message. Waits while the queue is full; discards the message after {@link #end}. */
    void add(byte[] value) {
        try {
            while (!ended && !queue.offer(value, CHECK_INTERVAL_MS, TimeUnit.MILLISECONDS)) {
                Thread.onSpinWait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** As {@link Subscriber#poll}; returns the number of messages. */
    int poll(Duration timeout, Subscriber.Visitor visitor) throws InterruptedException {
        byte[] value = queue.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
        int count = 0;
        while (value != null) {
            visitor.onMessage(value);
            count++;
            value = count < MAX_POLL_MESSAGES ? queue.poll() : null;
        }
        return count;
    }

    /** Releases threads that wait in {@link #add}, because no thread will poll any more. */
    void end() {
        ended = true;
    }
}
