package io.journalq.bench.peer;

import java.time.Duration;

/** Gets every message of a topic from when it was opened on. One thread. */
public interface Subscriber extends AutoCloseable {
    /** Waits up to {@code timeout} for messages and shows each to {@code visitor}. */
    void poll(Duration timeout, Visitor visitor) throws Exception;

    @Override
    void close();

    /** Looks at what is received. */
    @FunctionalInterface
    interface Visitor {
        void onMessage(byte[] value);
    }
}
