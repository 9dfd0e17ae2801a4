package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import java.util.concurrent.locks.LockSupport;

/** What a thread has received, for another thread that waits for it. */
final class Received {
    private static final long LOOK_NANOS = 200_000;

    private volatile long count;
    private volatile String failure;

    /** Called by the thread that receives. */
    void add(long more) {
        long before = count;
        count = before + more;
    }

    /** Ends the wait. Called by the thread that receives. */
    void fail(String reason) {
        failure = reason;
    }

    /** Forgets what was received. Only while nothing is sent. */
    void reset() {
        count = 0;
    }

    /** Waits for a number of messages. */
    void await(long expected, long timeoutNs) {
        long endNs = System.nanoTime() + timeoutNs;
        while (count < expected) {
            if (failure != null) {
                throw new BenchException("the receiver failed: " + failure, "see the broker's log");
            }
            if (System.nanoTime() - endNs > 0) {
                throw new BenchException(
                        "only " + count + " of " + expected + " messages arrived", "see the broker's log");
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }
}
