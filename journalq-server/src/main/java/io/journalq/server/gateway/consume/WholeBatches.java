package io.journalq.server.gateway.consume;

import io.journalq.common.protocol.RecordsData;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Steps through the batches of fetched records by their headers, and cuts them into parts. Of records in a file, it reads
 * only the headers, and its parts are regions of the file. Used by one {@link Tail}.
 */
final class WholeBatches {
    /** Size of a read of a file. A control batch, which is read completely, is smaller. */
    private static final int WINDOW_BYTES = 512;

    private RecordsData records;
    private int index;
    private int nextIndex;

    /** What was read of a file; null before the first read. */
    private byte[] window;

    private ByteBuf windowLog;

    /** Has the current batch, or its header, at {@link #logIndex}. */
    private ByteBuf log;

    private int logIndex;

    /** Where {@link #window} begins in the records of a file, and its size. */
    private int windowIndex;

    private int windowBytes;

    /** Begins with other records, which are borrowed until the next call. */
    void reset(RecordsData newRecords) {
        records = newRecords;
        index = 0;
        nextIndex = 0;
        windowIndex = 0;
        windowBytes = 0;
    }

    /**
     * Steps to the next complete batch.
     *
     * @throws InvalidBatchException if the bytes cannot be a batch
     * @throws IOException if the file cannot be read
     */
    boolean next() throws IOException {
        index = nextIndex;
        int leftBytes = records.sizeBytes() - index;
        find(Math.min(RecordBatch.HEADER_SIZE_BYTES, leftBytes));
        int sizeBytes = RecordBatch.completeSizeBytes(log, logIndex, leftBytes);
        if (sizeBytes == 0) {
            return false;
        }
        RecordBatch.requireCounts(log, logIndex);
        if (RecordBatch.isControl(log, logIndex)) {
            find(sizeBytes);
        }
        nextIndex = index + sizeBytes;
        return true;
    }

    /** Finds the first bytes of the current batch. */
    private void find(int sizeBytes) throws IOException {
        if (records.buffer() != null) {
            log = records.buffer();
            logIndex = log.readerIndex() + index;
            return;
        }
        if (sizeBytes > WINDOW_BYTES) {
            throw new InvalidBatchException("a control batch of " + sizeBytes + " bytes");
        }
        if (window == null) {
            window = new byte[WINDOW_BYTES];
            windowLog = Unpooled.wrappedBuffer(window);
        }
        if (index + sizeBytes > windowIndex + windowBytes) {
            windowIndex = index;
            windowBytes = Math.min(WINDOW_BYTES, records.sizeBytes() - index);
            records.file().read(ByteBuffer.wrap(window, 0, windowBytes), index);
        }
        log = windowLog;
        logIndex = index - windowIndex;
    }

    /** Has the header of the current batch at {@link #logIndex}, and all of it if it is a control batch. */
    ByteBuf log() {
        return log;
    }

    int logIndex() {
        return logIndex;
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
        if (records.buffer() == null) {
            return RecordsData.of(records.file().region(from, to - from));
        }
        ByteBuf all = records.buffer();
        return RecordsData.of(all.retainedSlice(all.readerIndex() + from, to - from));
    }
}
