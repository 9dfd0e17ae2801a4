package io.journalq.client.internal.fetch;

import io.journalq.common.record.BatchReader;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/** Counts the records that the application receives. Stateless. */
final class RecordCount {
    private RecordCount() {}

    /**
     * The number of records at or behind a position in a batch.
     *
     * @param reader is at the batch as it was received
     * @param opened has the batch as it was opened at {@code at}; null if it was not sealed
     */
    static int of(BatchReader reader, ByteBuf opened, int at, long from) {
        int count = reader.recordCount();
        if (opened != null && RecordBatch.recordCount(opened, at) < count) {
            // The opener has left out records that nobody can read.
            return reader.baseOffset() >= from ? RecordBatch.recordCount(opened, at) : countOpened(opened, at, from);
        }
        return reader.baseOffset() >= from ? count : countFrom(reader, from);
    }

    private static int countOpened(ByteBuf opened, int at, long from) {
        try (BatchReader batch =
                new BatchReader(ByteBufAllocator.DEFAULT, BatchReader.DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES, false)) {
            batch.reset(opened.slice(at, opened.writerIndex() - at));
            return batch.nextBatch() ? countFrom(batch, from) : 0;
        }
    }

    private static int countFrom(BatchReader batch, long offset) {
        int count = 0;
        while (batch.next()) {
            if (batch.offset() >= offset) {
                count++;
            }
        }
        return count;
    }
}
