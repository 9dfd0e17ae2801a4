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
 * Appends batches to a journal: stages the batches of one read cycle, writes them at once, and starts the next segment
 * when one is full. Owner thread only, except for {@link #writtenOffset}.
 */
final class JournalWriter {
    private static final Logger LOG = LoggerFactory.getLogger(JournalWriter.class);

    private static final int NO_EPOCH = -1;

    private final Path directory;
    private final SegmentList segments;
    private final LeaderEpochs epochs;
    private final JournalReads reads;
    private final JournalFlusher flusher;
    private final StagedBatches staged = new StagedBatches();
    private volatile long writtenOffset;
    private long endOffset;

    /** The epoch in which the owner appends; -1 if it has not begun one since the journal was opened or truncated. */
    private int begunEpoch = NO_EPOCH;

    /** Null for no observer. */
    private JournalWrites observer;

    /**
     * The observer, or the last one. The write-ahead files may still hold batches that were written for it, see
     * {@link WalReplay}.
     */
    private JournalWrites lastObserver;

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

    /** The offset that the next appended record will get. */
    long endOffset() {
        return endOffset;
    }

    /** All records before this offset are in the file. Any thread. */
    long writtenOffset() {
        return writtenOffset;
    }

    /** Sets the observer of all later writes; null for none. */
    void setObserver(JournalWrites newObserver) {
        observer = newObserver;
        if (newObserver != null) {
            lastObserver = newObserver;
        }
    }

    /** Records are about to be removed, see {@link JournalWrites#beforeTruncation}. Blocks. */
    void beforeTruncation(long offset) throws IOException {
        if (lastObserver != null) {
            lastObserver.beforeTruncation(offset);
        }
    }

    boolean isDirty() {
        return staged.count() > 0;
    }

    /** See {@link Journal#beginEpoch}. */
    void beginEpoch(int leaderEpoch) {
        begunEpoch = leaderEpoch;
        epochs.assign(leaderEpoch, endOffset);
    }

    /** See {@link Journal#append}. */
    long append(ByteBuf batch) {
        int at = batch.readerIndex();
        Check.that(RecordBatch.sizeBytes(batch, at) == batch.readableBytes(), "the buffer holds exactly one batch");
        long baseOffset = RecordBatch.baseOffset(batch, at);
        Check.that(baseOffset >= endOffset, "a batch is appended behind the last one");
        staged.add(batch.retain());
        endOffset = RecordBatch.nextOffset(batch, at);
        return baseOffset;
    }

    /** See {@link Journal#appendRun}. */
    void appendRun(ByteBuf run, int leaderEpoch) {
        BatchRun.check(run, endOffset, newestEpoch(), leaderEpoch);
        int at = run.readerIndex();
        while (at < run.writerIndex()) {
            int sizeBytes = RecordBatch.sizeBytes(run, at);
            staged.add(run.retainedSlice(at, sizeBytes));
            endOffset = RecordBatch.nextOffset(run, at);
            at += sizeBytes;
        }
    }

    /** The leader epoch of the last batch, written or staged; -1 if there is none. */
    private int newestEpoch() {
        int count = staged.count();
        if (count == 0) {
            return epochs.entries().latest();
        }
        ByteBuf last = staged.get(count - 1);
        return RecordBatch.leaderEpoch(last, last.readerIndex());
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
            epochs.truncateTo(endOffset);
            epochs.assign(begunEpoch, endOffset);
            staged.keep(writtenOffset, endOffset);
            throw failure;
        }
        staged.clear();
    }

    /** Discards all staged batches. */
    void clear() {
        staged.clear();
    }

    /** Discards all staged batches. The log ends behind the last written one. */
    void drop() {
        staged.clear();
        endOffset = writtenOffset;
        epochs.truncateTo(endOffset);
    }

    /** Sets the end to {@code offset}, at which the journal was truncated. */
    void truncated(long offset) {
        begunEpoch = NO_EPOCH;
        endOffset = offset;
        writtenOffset = offset;
        if (lastObserver != null) {
            lastObserver.onTruncated(offset);
        }
    }

    private void writeStaged(JournalConfig config) throws IOException {
        if (flusher.fence() != null) {
            throw new IOException(directory + " is fenced because a flush failed", flusher.fence());
        }
        if (flusher.isTailDirty()) {
            throw new IOException(directory + " is waiting until the bytes of a failed write are removed");
        }
        int from = 0;
        while (from < staged.count()) {
            Segment segment = segmentFor(from, config);
            int to = staged.fitting(
                    from,
                    (long) config.segmentSizeBytes() - segment.sizeBytes(),
                    segment.baseOffset() + Integer.MAX_VALUE);
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
            // A reader may have created the file, and a flush may have synced the directory before that.
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
            next = RecordBatch.nextOffset(batch, at);
            reads.written(segment, RecordBatch.baseOffset(batch, at), next, position);
            position += batch.readableBytes();
        }
        segment.setExtent(position, next);
        writtenOffset = next;
        if (observer != null) {
            observer.onWritten(segment.baseOffset(), start, next, staged.range(from, to));
        }
    }

    /** Closes the newest segment and starts the next. */
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
            LOG.error("{}: cannot flush a closed segment: {}", directory, failure.toString());
        }
    }
}
