package io.journalq.server.journal;

import io.journalq.common.check.Check;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.read.JournalReads;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SparseIndex;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts batches behind a journal's last one: stages what one read cycle brings, writes it at once, begins the next segment
 * when one is full. Owner only, but for {@link #writtenOffset}.
 */
final class JournalWriter {
    private static final Logger LOG = LoggerFactory.getLogger(JournalWriter.class);

    private final Path directory;
    private final SegmentList segments;
    private final LeaderEpochs epochs;
    private final JournalReads reads;
    private final JournalFlusher flusher;
    private final StagedBatches staged = new StagedBatches();
    private volatile long writtenOffset;
    private long endOffset;

    /** Null when nobody wants to see. */
    private JournalWrites observer;

    /** Somebody else may hold what was written: {@link WalReplay}. */
    private boolean observed;

    JournalWriter(
            Path directory, SegmentList segments, LeaderEpochs epochs, JournalReads reads, JournalFlusher flusher) {
        this.directory = directory;
        this.segments = segments;
        this.epochs = epochs;
        this.reads = reads;
        this.flusher = flusher;
        this.endOffset = segments.newest().endOffset();
        this.writtenOffset = endOffset;
    }

    /** The offset that the next appended record gets. */
    long endOffset() {
        return endOffset;
    }

    /** Everything before this is in the file. Any thread. */
    long writtenOffset() {
        return writtenOffset;
    }

    /** Shows what is written from now on; null for nobody. */
    void setObserver(JournalWrites newObserver) {
        observed |= newObserver != null;
        observer = newObserver;
    }

    /** Whether anybody has ever wanted to see. */
    boolean wasObserved() {
        return observed;
    }

    boolean isDirty() {
        return staged.count() > 0;
    }

    /** See {@link Journal#append}. */
    long append(ByteBuf batch) {
        int at = batch.readerIndex();
        Check.that(RecordBatch.sizeBytes(batch, at) == batch.readableBytes(), "a batch's length is its length");
        long baseOffset = RecordBatch.baseOffset(batch, at);
        Check.that(baseOffset >= endOffset, "a batch is appended behind the last one");
        staged.add(batch.retain());
        endOffset = RecordBatch.nextOffset(batch, at);
        return baseOffset;
    }

    /** See {@link Journal#write(long)}. */
    void write(JournalConfig config, long acknowledgedOffset) throws IOException {
        if (staged.count() == 0) {
            return;
        }
        try {
            writeStaged(config);
        } catch (IOException | RuntimeException | Error failure) {
            endOffset = Math.max(writtenOffset, acknowledgedOffset);
            epochs.truncateTo(writtenOffset);
            staged.keep(writtenOffset, endOffset);
            throw failure;
        }
        staged.clear();
    }

    /** Forgets what was not written. */
    void clear() {
        staged.clear();
    }

    /** The journal was cut and ends at {@code offset} now. */
    void truncated(long offset) {
        endOffset = offset;
        writtenOffset = offset;
    }

    private void writeStaged(JournalConfig config) throws IOException {
        if (flusher.fence() != null) {
            throw new IOException(directory + " is fenced since a flush failed", flusher.fence());
        }
        if (flusher.isTailDirty()) {
            throw new IOException(directory + " waits until what a failed write left is gone");
        }
        int from = 0;
        while (from < staged.count()) {
            Segment segment = segmentFor(from, config);
            int to = staged.fitting(from, (long) config.segmentSizeBytes() - segment.sizeBytes());
            writeTo(segment, from, to);
            from = to;
        }
    }

    private Segment segmentFor(int batch, JournalConfig config) throws IOException {
        Segment active = segments.newest();
        long sizeBytes = (long) active.sizeBytes() + staged.get(batch).readableBytes();
        long lastOffset =
                RecordBatch.lastOffset(staged.get(batch), staged.get(batch).readerIndex());
        boolean full = sizeBytes > config.segmentSizeBytes()
                || lastOffset - active.baseOffset() >= Integer.MAX_VALUE
                || active.index().sizeBytes() >= config.segmentIndexBytes();
        if (full && active.sizeBytes() > 0) {
            roll(config);
        }
        return segments.newest();
    }

    private void writeTo(Segment segment, int from, int to) throws IOException {
        // Loaded before the write, so that nothing can fail between the write and its publication.
        SparseIndex index = segment.index();
        int start = segment.sizeBytes();
        int position = start;
        if (start == 0) {
            // A reader may have made the file, and a flush have synced the folder before it was there.
            segment.file();
            flusher.directoryChanged();
        }
        try {
            staged.write(segment.file(), from, to, position);
        } catch (IOException | RuntimeException | Error failure) {
            flusher.tailDirty(segment);
            throw failure;
        }
        long next = writtenOffset;
        for (int i = from; i < to; i++) {
            ByteBuf batch = staged.get(i);
            int at = batch.readerIndex();
            epochs.assign(RecordBatch.leaderEpoch(batch, at), RecordBatch.baseOffset(batch, at));
            segment.note(batch, at, position, index);
            reads.written(segment, RecordBatch.baseOffset(batch, at), position);
            position += batch.readableBytes();
            next = RecordBatch.nextOffset(batch, at);
        }
        segment.setExtent(position, next);
        writtenOffset = next;
        if (observer != null) {
            observer.onWritten(segment.baseOffset(), start, next, staged.range(from, to));
        }
    }

    /** Closes the newest segment and begins the next. */
    void roll(JournalConfig config) {
        segments.roll(writtenOffset, config.indexIntervalBytes());
        flusher.directoryChanged();
        segments.inBackground(this::flushAndCheckpoint);
    }

    /** Any thread; blocks. */
    void flushAndCheckpoint() {
        try {
            flusher.flush(true);
        } catch (IOException failure) {
            LOG.error("{}: could not flush a closed segment: {}", directory, failure.toString());
        }
    }
}
