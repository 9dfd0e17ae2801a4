package io.journalq.bench.driver;

import java.util.List;

/** Sends messages in batches without waiting. Many threads at a time. */
public interface BatchProducer extends AutoCloseable {
    /**
     * Hands over one batch for one partition. May wait while the library's own bounds are reached. {@code listener}
     * hears of it exactly once, on any thread, unless this throws.
     */
    void send(int partition, List<byte[]> values, Listener listener) throws Exception;

    /** Sends what the library still holds back, and waits until all is answered. */
    void flush() throws Exception;

    @Override
    void close();

    /** Hears what became of a batch. */
    @FunctionalInterface
    interface Listener {
        /** {@code failure} is null when every message of the batch was acknowledged. */
        void onComplete(Throwable failure);
    }
}
