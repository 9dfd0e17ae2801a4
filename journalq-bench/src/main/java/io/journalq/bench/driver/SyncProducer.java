package io.journalq.bench.driver;

/** Sends one message and waits for its acknowledgement. Many threads at a time. */
public interface SyncProducer extends AutoCloseable {
    /** Returns the message's offset once the broker has acknowledged it; any exception means it has not. */
    long send(int partition, byte[] value) throws Exception;

    @Override
    void close();
}
