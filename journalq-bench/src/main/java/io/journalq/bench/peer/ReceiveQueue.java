package io.journalq.bench.peer;

import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import io.journalq.bench.peer.PubSubDriver.Subscriber;

/**
 * Messages between a library that pushes them and a subscriber that polls. Bounded: a library that is ahead waits, and
 * with it the broker. One thread polls, any thread adds.
 */
final class ReceiveQueue {
    /** Messages, so that many are taken up by one poll. */
    private static final int MOST = 10_000;

    private static final int MOST_OF_A_POLL = 1_000;
    private static final long LOOK_MS = 100;

    private final BlockingQueue<byte[]> queue = new ArrayBlockingQueue<>(MOST);
    private volatile boolean ended;

    /** Waits for room; after {@link #end} drops. */
    void add(byte[] value) {
        try {
            while (!ended && !queue.offer(value, LOOK_MS, TimeUnit.MILLISECONDS)) {
                Thread.onSpinWait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** See {@link Subscriber#poll}; returns how many there were. */
    int poll(Duration timeout, Subscriber.Visitor visitor) throws InterruptedException {
        byte[] value = queue.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
        int count = 0;
        while (value != null) {
            visitor.onMessage(value);
            count++;
            value = count < MOST_OF_A_POLL ? queue.poll() : null;
        }
        return count;
    }

    /** Nobody polls any more: whoever waits to add goes on. */
    void end() {
        ended = true;
    }
}
