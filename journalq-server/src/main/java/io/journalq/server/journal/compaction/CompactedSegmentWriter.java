package io.journalq.server.journal.compaction;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentSwap;
import io.journalq.server.journal.segment.SparseIndex;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Writes the segment that will replace others, under a name that a restart deletes. One thread; blocks. */
final class CompactedSegmentWriter {
    private static final int BUFFER_BYTES = 1 << 20;

    private final Segment segment;
    private final SparseIndex index;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private int sizeBytes;
    private int flushedBytes;
    private long nextOffset;

    CompactedSegmentWriter(FileStore store, Path directory, long baseOffset, int indexIntervalBytes)
            throws IOException {
        Path path = directory.resolve(Segment.fileName(baseOffset, SegmentSwap.CLEANED_SUFFIX));
        this.segment = Segment.at(store, path, baseOffset, indexIntervalBytes);
        this.nextOffset = baseOffset;
        segment.file().truncate(0);
        this.index = segment.index();
    }

    int sizeBytes() {
        return sizeBytes;
    }

    /** Appends the batch of {@code batchBytes} bytes at index {@code at}. */
    void add(ByteBuf source, int at, int batchBytes) throws IOException {
        segment.note(source, at, sizeBytes, index);
        nextOffset = RecordBatch.nextOffset(source, at);
        sizeBytes += batchBytes;
        for (int from = at; from < at + batchBytes; ) {
            if (!buffer.hasRemaining()) {
                flush();
            }
            int count = Math.min(buffer.remaining(), at + batchBytes - from);
            int limit = buffer.limit();
            buffer.limit(buffer.position() + count);
            source.getBytes(from, buffer);
            buffer.limit(limit);
            from += count;
        }
    }

    private void flush() throws IOException {
        buffer.flip();
        int count = buffer.remaining();
        segment.file().write(buffer, flushedBytes);
        flushedBytes += count;
        buffer.clear();
    }

    /** Syncs the log and returns the finished segment. */
    Segment finish() throws IOException {
        flush();
        segment.file().sync();
        segment.setExtent(sizeBytes, nextOffset);
        segment.setWrittenFrom(sizeBytes);
        segment.setIndex(index, 0);
        return segment;
    }

    /** Closes the file; the caller deletes it. */
    Path abandon() {
        segment.release();
        return segment.logPath();
    }
}
