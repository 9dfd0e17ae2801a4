package io.journalq.server.journal;

import io.journalq.common.check.Check;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.compaction.CompactionDebt;
import io.journalq.server.journal.compaction.CompactionJob;
import io.journalq.server.journal.compaction.CompactionResult;
import io.journalq.server.journal.compaction.JournalCompaction;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.read.BatchVisitor;
import io.journalq.server.journal.read.JournalReads;
import io.journalq.server.journal.read.JournalSearch;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.read.TimestampOffset;
import io.journalq.server.journal.segment.EpochEndOffset;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.journal.segment.Segment;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of one partition: record batches with consecutive offsets, in segment files.
 *
 * <p>One loop thread owns a journal and makes every call that is not marked "any thread". Those that are marked and block
 * belong on a thread that may wait for the disk. Housekeeping that blocks goes to the executor given to {@link #open}.
 *
 * <p>Appending has two steps, so that all that one read cycle brings is written at once: {@link #append} gives a batch its
 * offset, {@link #write} puts what was appended since into the file. Nothing can be read before it is written.
 */
public final class Journal implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Journal.class);

    private final FileStore store;
    private final Path directory;
    private final SegmentList segments;
    private final LeaderEpochs epochs;
    private final JournalFlusher flusher;
    private final JournalCompactor compactor;
    private final JournalReads reads = new JournalReads();
    private final JournalWriter writer;
    private final DerivedState derived;
    private final JournalStart start;
    private volatile JournalConfig config;

    /** End of the log when idle files were last looked for. */
    private long idleSinceOffset = -1;

    private boolean closed;

    /** What this journal's parts see of it. */
    private final class State implements JournalState {
        @Override
        public JournalConfig config() {
            return config;
        }

        @Override
        public long startOffset() {
            return start.offset();
        }

        @Override
        public boolean isStartKeptInCheckpointOnly() {
            return start.isKeptInCheckpointOnly();
        }

        @Override
        public long compactedOffset() {
            return compactor.compactedOffset();
        }

        @Override
        public boolean isClosed() {
            return closed;
        }
    }

    private Journal(
            FileStore store,
            Path directory,
            JournalConfig config,
            Executor background,
            JournalRecovery.Recovered recovered) {
        this.store = store;
        this.directory = directory;
        this.config = config;
        this.epochs = recovered.epochs();
        JournalState state = new State();
        this.segments = new SegmentList(store, directory, recovered.segments(), reads, background);
        segments.setDeleteDelayMs(config.deleteDelayMs());
        this.flusher = new JournalFlusher(store, directory, state, segments, epochs, recovered.flushedOffset());
        this.writer = new JournalWriter(directory, segments, epochs, reads, flusher);
        this.derived = new DerivedState(recovered.snapshots(), recovered.transactions(), segments, writer, flusher);
        this.compactor =
                new JournalCompactor(directory, state, segments, flusher, writer, derived, recovered.compactedOffset());
        this.start = new JournalStart(directory, segments, epochs, flusher, writer, derived, recovered.startOffset());
    }

    /**
     * Opens the journal in {@code directory}, which is created when it is missing. After a clean {@link #close} this reads
     * one small file; after a crash it checks what was written since the last checkpoint. Blocks; call it on any thread and
     * hand the journal to its owner.
     *
     * @param background where the journal's own blocking work is done: syncing and deleting closed segments
     * @throws IOException when the directory cannot be read or written; bad content of files is mended or left out of
     *     reads, and logged
     */
    public static Journal open(FileStore store, Path directory, JournalConfig config, Executor background)
            throws IOException {
        return open(store, directory, config, Integer.MAX_VALUE, background);
    }

    /**
     * As {@link #open(FileStore, Path, JournalConfig, Executor)}, for an owner that knows more.
     *
     * @param newestLeaderEpoch no batch can be of a newer leader epoch: one that says so was damaged
     */
    public static Journal open(
            FileStore store, Path directory, JournalConfig config, int newestLeaderEpoch, Executor background)
            throws IOException {
        JournalRecovery.Recovered recovered = new JournalRecovery(store, directory, config, newestLeaderEpoch).run();
        Journal journal = new Journal(store, directory, config, background, recovered);
        if (recovered.unvouched()) {
            journal.flusher.stateChanged();
            journal.flusher.flush(true);
        }
        return journal;
    }

    /**
     * As {@link #open(FileStore, Path, JournalConfig, Executor)}, for an owner who needs every batch behind the newest
     * snapshot, and who flushes each batch before it appends the next.
     *
     * @throws io.journalq.server.journal.file.CorruptJournalException when a file is missing or shorter than it was when it
     *     was flushed, or a batch is damaged that was flushed; nothing is changed then
     */
    public static Journal openWhole(FileStore store, Path directory, JournalConfig config, Executor background)
            throws IOException {
        JournalRecovery.checkWhole(store, directory);
        return open(store, directory, config, background);
    }

    /** Deletes what earlier deletions of journals in {@code dataDirectory} left behind when the process stopped. Blocks. */
    public static void deleteLeftovers(FileStore store, Path dataDirectory) throws IOException {
        JournalRecovery.deleteRenamed(store, dataDirectory);
    }

    // ---- appending

    /**
     * Takes a validated batch in: sets its base offset and leader epoch in place, and keeps a reference until
     * {@link #write}. The batch's bytes must not change until then.
     *
     * @param batch exactly one batch of magic 2 between its reader and writer index
     * @return the base offset that it got
     */
    public long append(ByteBuf batch, int leaderEpoch) {
        RecordBatch.setBaseOffset(batch, batch.readerIndex(), writer.endOffset());
        RecordBatch.setLeaderEpoch(batch, batch.readerIndex(), leaderEpoch);
        return writer.append(batch);
    }

    /** True when there are batches that {@link #write} has not written. */
    public boolean isDirty() {
        return writer.isDirty();
    }

    /**
     * Writes what was appended.
     *
     * @throws IOException when the disk is full or fails, or an earlier flush failed. What was written of it before stays,
     *     see {@link #writtenOffset}; the rest is dropped, its offsets are free again, and appends may succeed after the next
     *     {@link #flush}
     */
    public void write() throws IOException {
        write(0);
    }

    /**
     * As {@link #write()}, for an owner that has acknowledged some of it already.
     *
     * @param acknowledgedOffset what lies before this is not dropped when it cannot be written, but stays for the next try
     */
    public void write(long acknowledgedOffset) throws IOException {
        writer.write(config, acknowledgedOffset);
    }

    /** Shows {@code observer} what is written from now on; null for nobody. */
    public void setObserver(JournalWrites observer) {
        writer.setObserver(observer);
    }

    /**
     * Lets nothing be written or flushed any more, as after a flush that failed: something else that its owner needs did. A
     * restart ends it. Any thread.
     */
    public void fence(IOException failure) {
        flusher.fence(failure);
    }

    /** Whether nothing can be written any more. Any thread. */
    public boolean isFenced() {
        return flusher.fence() != null;
    }

    // ---- offsets and sizes

    /** First offset that may be read. Any thread. */
    public long startOffset() {
        return start.offset();
    }

    /** The offset that the next appended record gets. */
    public long endOffset() {
        return writer.endOffset();
    }

    /** Everything before this is in the file, if perhaps not on the disk. Any thread. */
    public long writtenOffset() {
        return writer.writtenOffset();
    }

    /** Everything before this is on the disk. Any thread. */
    public long flushedOffset() {
        return flusher.flushedOffset();
    }

    /** Bytes in all log files. Any thread. */
    public long sizeBytes() {
        return segments.sizeBytes();
    }

    /** Largest timestamp of all batches, in milliseconds since 1970 UTC; -1 when none has one. */
    public long newestTimestampMs() {
        long newest = -1;
        for (Segment segment : segments.all()) {
            newest = Math.max(newest, segment.maxTimestampMs());
        }
        return newest;
    }

    /** Any thread. */
    public int segmentCount() {
        return segments.all().length;
    }

    /** Any thread. */
    public Path directory() {
        return directory;
    }

    /** Any thread. */
    public JournalConfig config() {
        return config;
    }

    /** Takes effect with the next append, roll or retention. */
    public void setConfig(JournalConfig newConfig) {
        config = newConfig;
        segments.setDeleteDelayMs(newConfig.deleteDelayMs());
    }

    Segment[] segments() {
        return segments.all();
    }

    /** The newest leader epoch that wrote here, -1 when there is none. Any thread. */
    public int latestEpoch() {
        return epochs.latest();
    }

    /** The leader epoch in which {@code offset} was written, -1 when it is not known. Any thread. */
    public int epochOf(long offset) {
        return epochs.epochOf(offset);
    }

    /**
     * Where {@code epoch} ended here, or the closest older one (KIP-101, KIP-279). The newest ends at
     * {@link #writtenOffset}. Any thread.
     */
    public EpochEndOffset endOffsetForEpoch(int epoch) {
        return epochs.endOffsetOf(epoch, writer.writtenOffset());
    }

    // ---- reading

    /**
     * Finds whole batches from the one that holds {@code offset} on, all from one segment. The first may begin before
     * {@code offset}, as consumers expect. Never waits for the disk: what is not surely in the page cache comes back as a
     * cold slice, to be read elsewhere.
     *
     * @param offset at least {@link #startOffset}
     * @param endOffsetExclusive no record at or behind this is returned
     * @param maxSizeBytes the most to return
     * @param atLeastOneBatch true to return the first batch even if it is larger
     * @return the slice, which the caller must use or release; empty when there is nothing to read
     * @throws IOException when a file cannot be read or is corrupt
     */
    public JournalSlice read(long offset, long endOffsetExclusive, int maxSizeBytes, boolean atLeastOneBatch)
            throws IOException {
        long end = Math.min(endOffsetExclusive, writer.writtenOffset());
        if (offset >= end || maxSizeBytes < 0) {
            return JournalSlice.EMPTY;
        }
        Check.that(offset >= start.offset(), "a read begins at the start offset or behind it");
        JournalSlice.Search search = new JournalSlice.Search(offset, end, maxSizeBytes, atLeastOneBatch);
        return reads.read(segments.all(), search, config.warmSizeBytes());
    }

    /**
     * The first record at or after {@code timestampMs}, from {@link #startOffset} on. Any thread; blocks.
     *
     * @return null when there is none
     */
    public TimestampOffset findByTimestamp(long timestampMs) throws IOException {
        try (JournalSearch search = search()) {
            return search.findByTimestamp(timestampMs);
        }
    }

    /**
     * The first record with the largest timestamp of all. Any thread; blocks.
     *
     * @return null when no record has a timestamp
     */
    public TimestampOffset maxTimestamp() throws IOException {
        try (JournalSearch search = search()) {
            return search.maxTimestamp();
        }
    }

    /**
     * Shows {@code visitor} every written batch that ends behind {@code fromOffset}, to replay what was derived from
     * them. Any thread; blocks.
     */
    public void forEachBatch(long fromOffset, BatchVisitor visitor) throws IOException {
        try (JournalSearch search = search()) {
            search.forEachBatch(fromOffset, visitor);
        }
    }

    private JournalSearch search() {
        return new JournalSearch(segments.retainAll(), start.offset());
    }

    /** What is kept besides the log. Any thread. */
    public DerivedState derivedState() {
        return derived;
    }

    // ---- deleting

    /**
     * Makes {@code offset} the first that may be read, and deletes the segments before it. Survives a killed process once
     * the background executor has written it down, and anything after {@link #checkpoint}.
     *
     * @param offset at most {@link #writtenOffset}
     */
    public void deleteRecordsBefore(long offset) {
        start.moveTo(offset);
    }

    /**
     * Closes the newest segment when it is old enough, and deletes closed ones that are too old or too many, or that the
     * process before this one did not come to delete.
     *
     * @param nowMs in milliseconds since 1970 UTC
     * @param committedOffset no record at or behind this is deleted: it is not as safe yet as its topic demands
     * @return the number of segments deleted
     */
    public int applyRetention(long nowMs, long committedOffset) {
        return start.applyRetention(config, nowMs, committedOffset);
    }

    /**
     * Cuts off every batch that reaches behind {@code offset}, as a follower does whose leader has other ones. Nothing
     * may be staged. Blocks.
     *
     * @return the new end offset, which is less than {@code offset} when a batch held it in its middle
     */
    public long truncateTo(long offset) throws IOException {
        Check.that(!writer.isDirty(), "nothing is staged while a journal is cut");
        Check.that(!writer.wasObserved(), "nothing would take what is cut out of the write-ahead files");
        if (offset >= writer.writtenOffset()) {
            return writer.writtenOffset();
        }
        compactor.completeSwap();
        flusher.flush(false);
        long endOffset = segments.truncateTo(offset);
        writer.truncated(endOffset);
        start.truncateTo(endOffset);
        compactor.truncateTo(endOffset);
        epochs.truncateTo(endOffset);
        derived.truncateTo(endOffset);
        flusher.truncated(endOffset);
        return endOffset;
    }

    /**
     * Closes the journal and takes its directory out of sight; its files are deleted in the background, once the configured
     * delay has passed. Slices already handed out stay readable.
     */
    public void delete() throws IOException {
        writer.clear();
        if (!closed) {
            closed = true;
            flusher.stop();
            segments.release();
        }
        Path renamed = directory.resolveSibling(directory.getFileName() + Segment.DELETED_SUFFIX);
        store.move(directory, renamed);
        segments.deleteLater(() -> {
            try {
                store.delete(renamed);
            } catch (IOException failure) {
                LOG.error("{}: could not be deleted: {}", renamed, failure.toString());
            }
        });
    }

    // ---- compaction

    /**
     * What compaction would have to do. Any thread.
     *
     * @param stableOffset what lies at or behind this may still change its meaning, and is left alone
     */
    public CompactionDebt compactionDebt(long stableOffset, long nowMs) {
        return compactor.debt(stableOffset, nowMs);
    }

    /**
     * Takes superseded records away. Any thread, one at a time; blocks for as long as it takes to read and write the log.
     *
     * @throws IOException when the log cannot be read or written, or is damaged; what was done until then stays
     */
    public CompactionResult compact(CompactionJob job) throws IOException {
        return new JournalCompaction(store, compactor, job).run();
    }

    /** What lies before this was compacted at least once. Any thread. */
    public long compactedOffset() {
        return compactor.compactedOffset();
    }

    // ---- flushing and closing

    /**
     * Makes what is written durable. Any thread; blocks.
     *
     * @return everything before this offset is on the disk now
     * @throws IOException when the disk failed; the journal takes no more writes then
     */
    public long flush() throws IOException {
        return flusher.flush(false);
    }

    /**
     * Makes durable what is written and where the log starts. Any thread; blocks.
     *
     * @throws IOException when the disk failed, perhaps only for want of room
     */
    public void checkpoint() throws IOException {
        flusher.checkpoint();
    }

    /**
     * Writes, flushes and checkpoints, so that the next {@link #open} needs to read no log, and closes the files. Blocks;
     * slices already handed out stay readable.
     */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            write();
            if (flusher.fence() == null) {
                flusher.flush(true);
            }
        } finally {
            flusher.stop();
            segments.release();
        }
    }

    /**
     * Closes files that nothing was written to since the last call; the next use opens them again. For a slow periodic
     * call, so that idle partitions hold no file handles.
     */
    public void releaseIdleFiles() {
        if (writer.writtenOffset() != idleSinceOffset) {
            idleSinceOffset = writer.writtenOffset();
            return;
        }
        reads.closeIdle(segments.all(), flushedOffset());
        derived.abortedTransactions().releaseIdle();
    }
}
