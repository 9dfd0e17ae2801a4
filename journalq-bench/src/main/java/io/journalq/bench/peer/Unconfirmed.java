package io.journalq.bench.peer;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the messages of a publisher that the broker has not confirmed yet. Thread-safe. */
final class Unconfirmed {
    private static final long POLL_MS = 1;

    private final AtomicLong count = new AtomicLong();

    void increment() {
        count.incrementAndGet();
    }

    void decrement() {
        count.decrementAndGet();
    }

    /** Waits until every message is confirmed. */
    void awaitNone(Duration timeout) throws InterruptedException, TimeoutException {
        long deadlineNs = System.nanoTime() + timeout.toNanos();
        while (count.get() > 0) {
            if (System.nanoTime() > deadlineNs) {
                throw new TimeoutException(count + " messages are not confirmed");
            }
            TimeUnit.MILLISECONDS.sleep(POLL_MS);
        }
    }
}
