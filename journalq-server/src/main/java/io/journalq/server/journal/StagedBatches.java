package io.journalq.server.journal;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.LogFile;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.FastThreadLocal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Batches that are appended but not written, with one reference held on each. Small batches are gathered in a
 * thread-local buffer, so that a read cycle's appends to a partition cost one system call. Owner thread only.
 */
final class StagedBatches {
    /** Batches up to this size are gathered; larger ones are written from their own buffers. */
    static final int GATHER_UP_TO_BYTES = 16 << 10;

    private static final int GATHER_BUFFER_BYTES = 128 << 10;
    private static final int FIRST_CAPACITY = 4;
    /** A larger array is discarded after a write, so that a burst does not use memory permanently. */
    private static final int MAX_KEPT_CAPACITY = 256;

    private static final ByteBuf[] NONE = {};

    private static final FastThreadLocal<ByteBuffer> GATHER_BUFFER = new FastThreadLocal<>() {
        @Override
        protected ByteBuffer initialValue() {
            return ByteBuffer.allocateDirect(GATHER_BUFFER_BYTES);
        }
    };

    private ByteBuf[] batches = NONE;
    private int count;

    /** Takes over one reference. */
    void add(ByteBuf batch) {
        if (count == batches.length) {
            batches = Arrays.copyOf(batches, Math.max(FIRST_CAPACITY, 2 * count));
        }
        batches[count++] = batch;
    }

    int count() {
        return count;
    }

    ByteBuf get(int i) {
        return batches[i];
    }

    /** A view of the batches {@code from} to {@code to}, exclusive. */
    List<ByteBuf> range(int from, int to) {
        return Arrays.asList(batches).subList(from, to);
    }

    /**
     * The exclusive end of the batches, starting at {@code from}, that fit into {@code roomBytes} and have their
     * records before {@code endOffset}; at least one.
     */
    int fitting(int from, long roomBytes, long endOffset) {
        int to = from + 1;
        long sizeBytes = batches[from].readableBytes();
        while (to < count
                && sizeBytes + batches[to].readableBytes() <= roomBytes
                && RecordBatch.nextOffset(batches[to], batches[to].readerIndex()) <= endOffset) {
            sizeBytes += batches[to++].readableBytes();
        }
        return to;
    }

    /** Writes batches {@code from} to {@code to}, exclusive, back to back. */
    void write(LogFile file, int from, int to, long position) throws IOException {
        ByteBuffer gather = GATHER_BUFFER.get();
        gather.clear();
        long next = position;
        for (int i = from; i < to; i++) {
            ByteBuf batch = batches[i];
            int sizeBytes = batch.readableBytes();
            boolean alone = to - from == 1 || sizeBytes > GATHER_UP_TO_BYTES;
            if (gather.remaining() < sizeBytes || alone) {
                next += flush(gather, file, next);
            }
            if (alone) {
                writeAlone(file, batch, next);
                next += sizeBytes;
            } else {
                int end = gather.position() + sizeBytes;
                gather.limit(end);
                batch.getBytes(batch.readerIndex(), gather);
                gather.limit(gather.capacity());
            }
        }
        flush(gather, file, next);
    }

    private static int flush(ByteBuffer gather, LogFile file, long position) throws IOException {
        int sizeBytes = gather.position();
        if (sizeBytes > 0) {
            file.write(gather.flip(), position);
        }
        gather.clear();
        return sizeBytes;
    }

    private static void writeAlone(LogFile file, ByteBuf batch, long position) throws IOException {
        if (batch.nioBufferCount() == 1) {
            file.write(batch.internalNioBuffer(batch.readerIndex(), batch.readableBytes()), position);
            return;
        }
        long next = position;
        for (ByteBuffer part : batch.nioBuffers()) {
            int sizeBytes = part.remaining();
            file.write(part, next);
            next += sizeBytes;
        }
    }

    /** Releases all batches except for those from {@code fromOffset} on that lie before {@code toOffset}. */
    void keep(long fromOffset, long toOffset) {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            ByteBuf batch = batches[i];
            batches[i] = null;
            if (RecordBatch.baseOffset(batch, batch.readerIndex()) >= fromOffset
                    && RecordBatch.baseOffset(batch, batch.readerIndex()) < toOffset) {
                batches[kept++] = batch;
            } else {
                batch.release();
            }
        }
        count = kept;
    }

    /** Releases all batches. */
    void clear() {
        for (int i = 0; i < count; i++) {
            batches[i].release();
            batches[i] = null;
        }
        count = 0;
        if (batches.length > MAX_KEPT_CAPACITY) {
            batches = NONE;
        }
    }

    /** Base offset of batch {@code i}. */
    long baseOffset(int i) {
        return RecordBatch.baseOffset(batches[i], batches[i].readerIndex());
    }
}
