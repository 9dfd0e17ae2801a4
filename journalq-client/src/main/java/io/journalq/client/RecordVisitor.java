package io.journalq.client;

import io.journalq.common.record.BatchReader;

/** Visits records in the network buffer without copying them. See {@link ConsumerRecords#visit}. */
@FunctionalInterface
public interface RecordVisitor {
    /**
     * Called for each record in order.
     *
     * @param record a reader positioned on the record; the reader and the buffers that it returns are valid only during
     *     this call
     */
    void visit(String topic, int partition, BatchReader record);
}
