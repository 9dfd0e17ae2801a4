package io.journalq.server.gateway.consume;

import io.journalq.common.protocol.RecordsData;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;

/** Steps through the batches of fetched records by their headers, and cuts them into parts. Used by one {@link Tail}. */
final class WholeBatches {
    private RecordsData records;
    private int index;
    private int nextIndex;

    /** Begins with other records, which are borrowed until the next call. */
    void reset(RecordsData newRecords) {
        records = newRecords;
        index = 0;
        nextIndex = 0;
    }

    /**
     * Steps to the next complete batch.
     *
     * @throws io.journalq.common.record.InvalidBatchException if the bytes cannot be a batch
     */
    boolean next() {
        index = nextIndex;
        int sizeBytes = RecordBatch.completeSizeBytes(log(), logIndex(), records.sizeBytes() - index);
        if (sizeBytes == 0) {
            return false;
        }
        RecordBatch.requireCounts(log(), logIndex());
        nextIndex = index + sizeBytes;
        return true;
    }

    /** Has the current batch at {@link #logIndex}. */
    ByteBuf log() {
        return records.buffer();
    }

    int logIndex() {
        return records.buffer().readerIndex() + index;
    }

    /** Where the current batch begins in the records. */
    int index() {
        return index;
    }

    /** Where the current batch ends in the records. */
    int nextIndex() {
        return nextIndex;
    }

    /** The records between two indexes. The caller releases them. */
    RecordsData part(int from, int to) {
        ByteBuf all = records.buffer();
        return RecordsData.of(all.retainedSlice(all.readerIndex() + from, to - from));
    }
}
