package io.journalq.client;

import io.journalq.common.record.BatchReader;

/** Sees records where they lie in the network buffer, without a copy; see {@link ConsumerRecords#visit}. */
@FunctionalInterface
public interface RecordVisitor {
    /**
     * Called for each record in order.
     *
     * @param record standing on the record; it, and the buffers it returns, are valid during this call only
     */
    void visit(String topic, int partition, BatchReader record);
}
