package io.journalq.bench.driver;

import java.time.Duration;

/** Reads the partitions that it was opened for, or that its group gives it. One thread. */
public interface MessageConsumer extends AutoCloseable {
    /** Waits up to {@code timeout} for messages, shows each to {@code visitor}, and returns how many there were. */
    int poll(Duration timeout, Visitor visitor) throws Exception;

    /** How many partitions it has at the moment. */
    int share();

    @Override
    void close();

    /** Looks at what is read. Two steps, so that a reader that only counts need not decode every value. */
    interface Visitor {
        /** Each message, in the order of its partition; whether to show its value too. */
        boolean onMessage(int partition, long offset);

        void onValue(int partition, long offset, byte[] value);
    }
}
