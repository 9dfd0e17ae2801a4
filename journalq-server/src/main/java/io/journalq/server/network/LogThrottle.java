package io.journalq.server.network;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;

/** Lines of one kind, at most one a second, so that a flood of connections does not become one of lines. Any thread. */
final class LogThrottle {
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Logger log;
    private final AtomicLong dueNanos = new AtomicLong(System.nanoTime());
    private final AtomicLong omitted = new AtomicLong();

    LogThrottle(Logger log) {
        this.log = log;
    }

    /** A connection is closed for {@code reason}. */
    void closed(Object client, String reason) {
        long due = dueNanos.get();
        long now = System.nanoTime();
        if (now - due < 0 || !dueNanos.compareAndSet(due, now + INTERVAL_NANOS)) {
            omitted.incrementAndGet();
            return;
        }
        log.warn("connection closed: client={} reason=\"{}\" omittedSince={}", client, reason, omitted.getAndSet(0));
    }
}
