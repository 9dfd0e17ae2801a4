package io.journalq.server.journal;

import io.journalq.common.check.Check;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.JournalFlusher.JournalState;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.read.JournalReads;
import io.journalq.server.journal.read.JournalSearch;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.read.RangeCheck;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.journal.segment.RecoveryRules;
import io.journalq.server.journal.segment.Segment;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of one partition: record batches with consecutive offsets, in segment files.
 *
 * <p>One loop thread owns a journal and makes every call that is not marked "any thread". Calls that are marked
 * "blocks" belong on a thread that may wait for the disk. Background work that blocks runs on the executor given to
 * {@link #open}.
 *
 * <p>An append has two steps, so that everything that arrives in one read cycle is written at once: {@link #append}
 * assigns an offset to a batch, and {@link #write} writes all appended batches to the file. A batch can be read once it
 * is written.
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
    private final LogStart start;
    private volatile JournalConfig config;
    private volatile long highWatermark;
    private final JournalRewrites rewrites;

    /** The end of the log when {@link #releaseIdleFiles} was last called. */
    private long idleSinceOffset = -1;

    private boolean closed;

    /** The view of this journal that its parts have. */
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
        public long highWatermark() {
            return highWatermark;
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
        this.highWatermark = recovered.highWatermark();
        this.epochs = recovered.epochs();
        JournalState state = new State();
        this.segments = new SegmentList(store, directory, recovered.segments(), reads, background);
        segments.setDeleteDelayMs(config.deleteDelayMs());
        this.flusher = new JournalFlusher(
                store, directory, state, segments, epochs, recovered.flushedOffset(), recovered.startOffset());
        this.writer = new JournalWriter(directory, segments, epochs, reads, flusher);
        this.derived = new DerivedState(recovered.snapshots(), recovered.transactions(), segments, writer, flusher);
        this.compactor =
                new JournalCompactor(directory, state, segments, flusher, writer, derived, recovered.compactedOffset());
        this.start = new LogStart(directory, segments, epochs, flusher, writer, derived, recovered.startOffset());
        this.rewrites = new JournalRewrites(state, epochs, store, compactor);
    }

    /**
     * Opens the journal in {@code directory}, and creates the directory if it is missing. After a clean {@link #close}
     * this reads one small file. After a crash it checks the batches written since the last checkpoint. Blocks; call it
     * on any thread and hand the journal to its owner.
     *
     * @param background runs the journal's own blocking work: syncing and deleting closed segments
     * @throws IOException if the directory cannot be read or written. Bad file content is not an error: it is repaired
     *     or excluded from reads, and logged
     */
    public static Journal open(FileStore store, Path directory, JournalConfig config, Executor background)
            throws IOException {
        store.createDurableDirectories(directory);
        return open(store, directory, config, Integer.MAX_VALUE, RecoveryRules.ALONE, background);
    }

    /**
     * Like {@link #open(FileStore, Path, JournalConfig, Executor)}, for a replica in a directory that exists durably.
     *
     * @param newestLeaderEpoch no batch can have a newer leader epoch: a batch that has one is damaged
     * @param rules how damage is told from what other replicas have
     */
    public static Journal open(
            FileStore store,
            Path directory,
            JournalConfig config,
            int newestLeaderEpoch,
            RecoveryRules rules,
            Executor background)
            throws IOException {
        JournalRecovery.Recovered recovered =
                new JournalRecovery(store, directory, config, newestLeaderEpoch, rules).run();
        Journal journal = new Journal(store, directory, config, background, recovered);
        if (recovered.unvouched()) {
            journal.flusher.stateChanged();
            journal.flusher.flush(true);
        }
        return journal;
    }

    /**
     * Like {@link #open(FileStore, Path, JournalConfig, Executor)}, for an owner that needs every batch behind the
     * newest snapshot and flushes each batch before it appends the next.
     *
     * @throws io.journalq.server.journal.file.CorruptJournalException if a file is missing or shorter than when it was
     *     synced, or a synced batch is damaged. In this case nothing is changed
     */
    public static Journal openWhole(FileStore store, Path directory, JournalConfig config, Executor background)
            throws IOException {
        JournalRecovery.checkWhole(store, directory);
        return open(store, directory, config, background);
    }

    /** Deletes the directories that {@link #delete} renamed but a stopped process did not delete. Blocks. */
    public static void deleteLeftovers(FileStore store, Path dataDirectory) throws IOException {
        for (String name : store.list(dataDirectory)) {
            if (name.endsWith(Segment.DELETED_SUFFIX)) {
                try {
                    store.delete(dataDirectory.resolve(name));
                } catch (NoSuchFileException gone) {
                    LOG.debug("{} was deleted in the meantime", name);
                }
            }
        }
    }

    // ---- appending

    /**
     * Appends a validated batch: sets its base offset and leader epoch in place, and keeps a reference until
     * {@link #write}. The batch's bytes must not change until then.
     *
     * @param batch exactly one batch of magic 2 between its reader and writer index
     * @return the base offset assigned to the batch
     */
    public long append(ByteBuf batch, int leaderEpoch) {
        RecordBatch.setBaseOffset(batch, batch.readerIndex(), writer.endOffset());
        RecordBatch.setLeaderEpoch(batch, batch.readerIndex(), leaderEpoch);
        return writer.append(batch);
    }

    /**
     * Appends the batches that a leader sent, with the offsets and leader epochs that they have, and keeps references
     * until {@link #write}. Appends all of them or none. The bytes must not change until then.
     *
     * <p>Offsets may have gaps, as compaction leaves them. Recovery takes a gap before the last batch of the log for a
     * damaged offset, unless {@link RecoveryRules#mayEndBehindGap}.
     *
     * @param run whole batches back to back between its reader and writer index
     * @param leaderEpoch epoch of that leader; no batch is newer
     * @throws io.journalq.common.record.InvalidBatchException if a batch is damaged, or its offset or leader epoch
     *     does not continue the log
     */
    public void appendRun(ByteBuf run, int leaderEpoch) {
        writer.appendRun(run, leaderEpoch);
    }

    /**
     * Notes that a leader begins to append in {@code leaderEpoch}, at the end of the log. Other replicas can then ask for
     * the end of this epoch before it has records. An epoch without records is forgotten when the journal is opened
     * again.
     */
    public void beginEpoch(int leaderEpoch) {
        writer.beginEpoch(leaderEpoch);
    }

    /** True if there are batches that {@link #write} has not written. */
    public boolean isDirty() {
        return writer.isDirty();
    }

    /**
     * Writes the appended batches.
     *
     * @throws IOException if the disk is full or fails, or an earlier flush failed. Batches already written stay, see
     *     {@link #writtenOffset}. The rest is dropped, its offsets are free again, and appends may succeed after the
     *     next {@link #flush}
     */
    public void write() throws IOException {
        write(0);
    }

    /**
     * Like {@link #write()}, for an owner that has already acknowledged a part of the batches.
     *
     * @param acknowledgedOffset batches before this offset are not dropped if they cannot be written: they stay staged
     *     for the next attempt
     */
    public void write(long acknowledgedOffset) throws IOException {
        writer.write(config, acknowledgedOffset);
    }

    /** Sets the observer of all later writes; null for none. */
    public void setObserver(JournalWrites observer) {
        writer.setObserver(observer);
    }

    /**
     * Stops all writes and flushes, as after a failed flush, because something else that the owner depends on failed.
     * Only a restart lifts the fence. Any thread.
     */
    public void fence(IOException failure) {
        flusher.fence(failure);
    }

    /** Whether the journal is fenced and accepts no writes. Any thread. */
    public boolean isFenced() {
        return flusher.fence() != null;
    }

    // ---- offsets and sizes

    /** First offset that may be read. Any thread. */
    public long startOffset() {
        return start.offset();
    }

    /** The start to which a power loss can move {@link #startOffset} back. Any thread. */
    public long keptStartOffset() {
        return flusher.keptStartOffset();
    }

    /** The offset that the next appended record will get. */
    public long endOffset() {
        return writer.endOffset();
    }

    /** All records before this offset are in the file, but possibly not on the disk. Any thread. */
    public long writtenOffset() {
        return writer.writtenOffset();
    }

    /** All records before this offset are durable. Any thread. */
    public long flushedOffset() {
        return flusher.flushedOffset();
    }

    /**
     * The high watermark that the owner has set, or that was stored when the journal was opened. It is behind the end of
     * the log if records are missing that were below it. Any thread.
     */
    public long highWatermark() {
        return highWatermark;
    }

    /**
     * Notes the high watermark of the replica that this log belongs to. The next checkpoint stores it. A smaller one than
     * before changes nothing, so that each start finds out that records are missing, until {@link #acceptEnd}.
     *
     * @param offset at most {@link #writtenOffset}
     */
    public void setHighWatermark(long offset) {
        highWatermark = Math.max(highWatermark, offset);
    }

    /** Notes that nothing is missing at the end of the log, because the other replicas have been compared with it. */
    public void acceptEnd() {
        highWatermark = Math.min(highWatermark, writtenOffset());
    }

    /** Whether records are missing that were below the high watermark. */
    public boolean isMissingRecords() {
        return highWatermark > writtenOffset();
    }

    /** Total size of all log files in bytes. Any thread. */
    public long sizeBytes() {
        return segments.sizeBytes();
    }

    /** Largest timestamp of all batches, in milliseconds since 1970 UTC; -1 if no batch has one. */
    public long newestTimestampMs() {
        return segments.newestTimestampMs();
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

    /** Replaces the configuration, which takes effect with the next append, roll or retention run. */
    public void setConfig(JournalConfig newConfig) {
        config = newConfig;
        segments.setDeleteDelayMs(newConfig.deleteDelayMs());
    }

    Segment[] segments() {
        return segments.all();
    }

    /** The leader epochs in this log now. The newest one ends at {@link #writtenOffset}. Any thread. */
    public LeaderEpochs.Entries epochs() {
        return epochs.entries();
    }

    // ---- reading

    /**
     * Finds whole batches in one segment, starting with the batch that holds {@code offset}. The first batch may begin
     * before {@code offset}, as consumers expect. Never waits for the disk: data that may not be in the page cache is
     * returned as a cold slice, which is loaded on another thread.
     *
     * @param offset at least {@link #startOffset}
     * @param endOffsetExclusive only records below this offset are returned
     * @param maxSizeBytes maximum size of the result
     * @param atLeastOneBatch true to return the first batch even if it is larger
     * @return the slice, which the caller must use or release; empty if there is nothing to read
     * @throws IOException if a file cannot be read or is corrupt
     */
    public JournalSlice read(long offset, long endOffsetExclusive, int maxSizeBytes, boolean atLeastOneBatch)
            throws IOException {
        long end = Math.min(endOffsetExclusive, writer.writtenOffset());
        if (offset >= end || maxSizeBytes < 0) {
            return JournalSlice.EMPTY;
        }
        Check.that(offset >= start.offset(), "a read begins at or behind the start offset");
        JournalSlice.Search search = new JournalSlice.Search(offset, end, maxSizeBytes, atLeastOneBatch);
        return reads.read(segments.all(), search, config.warmSizeBytes());
    }

    /** Lookups among the batches written until now. The caller closes it. Any thread. */
    public JournalSearch search() {
        return new JournalSearch(segments.retainAll(), start.offset());
    }

    /** Checks ranges of the batches written until now. The caller closes it. Any thread. */
    public RangeCheck rangeCheck() {
        return new RangeCheck(segments.retainAll());
    }

    /** The derived state stored beside the log. Any thread. */
    public DerivedState derivedState() {
        return derived;
    }

    // ---- deleting

    /**
     * Makes {@code offset} the start of the log and deletes the segments before it. This survives a killed process once
     * the background executor has saved it, and a power loss after {@link #checkpoint}.
     *
     * @param offset at most {@link #writtenOffset}
     */
    public void deleteRecordsBefore(long offset) {
        start.moveTo(offset);
    }

    /**
     * Closes the newest segment if it is old enough. Deletes closed segments that exceed the limits of age or size, and
     * those that a previous process did not get to delete.
     *
     * @param nowMs in milliseconds since 1970 UTC
     * @param committedOffset records at or behind this are not deleted, because they are not yet as safe as their topic
     *     demands
     * @return the number of segments deleted
     */
    public int applyRetention(long nowMs, long committedOffset) {
        return start.applyRetention(config, nowMs, committedOffset);
    }

    /**
     * Removes every batch that reaches behind {@code offset}, and the leader epochs without records at the new end. A
     * follower does this when its leader has different batches or epochs there. Nothing may be staged. Blocks.
     *
     * <p>When this returns, no crash brings the batches back. If it is interrupted by a crash, the log ends somewhere
     * between the new and the old end, without a gap.
     *
     * @return the new end offset; it is less than {@code offset} if a batch spanned that offset
     * @throws IOException if the disk failed, which fences the journal; or if the observer cannot guarantee that the
     *     batches stay removed, in which case the log is unchanged
     */
    public long truncateTo(long offset) throws IOException {
        Check.that(!writer.isDirty(), "nothing is staged when a journal is truncated");
        if (offset >= writer.writtenOffset()) {
            // No batches are removed, but an epoch that began here without records is not the new leader's.
            writer.truncated(writer.writtenOffset());
            epochs.truncateTo(writer.writtenOffset());
            return writer.writtenOffset();
        }
        compactor.completeSwap();
        // Everything that is in write-ahead files is also in the log's own files, before the former is made void.
        flusher.flush(false);
        writer.beforeTruncation(offset);
        return flusher.truncate(offset, () -> {
            long endOffset = segments.truncateTo(offset);
            writer.truncated(endOffset);
            highWatermark = Math.min(highWatermark, endOffset);
            start.truncateTo(endOffset);
            compactor.truncateTo(endOffset);
            epochs.truncateTo(endOffset);
            derived.truncateTo(endOffset);
            return endOffset;
        });
    }

    /** Discards the batches that are staged, because they cannot be written. */
    public void dropStaged() {
        writer.drop();
    }

    /**
     * Removes all records. The log then begins and ends at {@code offset}. A follower does this when its leader no
     * longer has the records behind the follower's end. A crash leaves either the old log or the new, empty one.
     * Nothing may be staged. Blocks.
     *
     * @param offset greater than {@link #writtenOffset}
     * @throws IOException if the disk failed. The caller must close the journal and open it again
     */
    public void resetTo(long offset) throws IOException {
        Check.that(!writer.isDirty(), "nothing is staged when a journal is reset");
        Check.that(offset > writer.writtenOffset(), "a journal is reset to an offset behind its end");
        compactor.completeSwap();
        derived.dropSnapshots();
        flusher.syncDirectory();
        List<Segment> replaced = new ArrayList<>();
        flusher.reset(offset, () -> {
            replaced.addAll(segments.resetTo(offset, config.indexIntervalBytes()));
            epochs.reset(LeaderEpochs.Entries.NONE);
            writer.truncated(offset);
            start.resetTo(offset);
            compactor.resetTo(offset);
            highWatermark = offset;
        });
        derived.dropBefore(offset);
        segments.deleteReplaced(replaced);
        flusher.syncDirectory();
    }

    /**
     * Makes what has been written to the journal void for its observer, before {@link #delete}: another journal may be
     * created in its directory later. Nothing may be on its way to the observer. Blocks.
     *
     * @throws IOException if that is not durable
     */
    public void forgetWrites() throws IOException {
        writer.beforeTruncation(0);
    }

    /**
     * Closes the journal and renames its directory. Its files are deleted in the background after the configured delay.
     * Slices already returned stay readable.
     */
    public void delete() throws IOException {
        writer.clear();
        if (!closed) {
            closed = true;
            derived.close();
            flusher.stop();
            compactor.release();
            segments.release();
        }
        DeletedJournal deleted = DeletedJournal.rename(store, directory);
        segments.deleteLater(() -> {
            try {
                deleted.deleteFiles();
            } catch (IOException failure) {
                LOG.error("{}: cannot delete it: {}", directory, failure.toString());
            }
        });
    }

    // ---- compaction

    /** Replaces closed segments: compaction and healing. Any thread. */
    public JournalRewrites rewrites() {
        return rewrites;
    }

    /** Base offset of the segment behind the one that holds {@code offset}; for the newest, its end. Any thread. */
    public long segmentEnd(long offset) {
        Segment[] all = segments.all();
        int at = JournalReads.segmentAt(all, offset);
        return at + 1 < all.length ? all[at + 1].baseOffset() : writer.writtenOffset();
    }

    /** Records before this offset have been compacted at least once. Any thread. */
    public long compactedOffset() {
        return compactor.compactedOffset();
    }

    // ---- flushing and closing

    /**
     * Makes all written batches durable. Any thread; blocks.
     *
     * @return all records before this offset are now durable
     * @throws IOException if the disk failed; the journal then accepts no more writes
     */
    public long flush() throws IOException {
        return flusher.flush(false);
    }

    /**
     * Makes all written batches and the start offset durable. Any thread; blocks.
     *
     * @throws IOException if the disk failed, possibly only because it is full
     */
    public void checkpoint() throws IOException {
        flusher.checkpoint();
    }

    /**
     * Writes, flushes and writes a checkpoint, so that the next {@link #open} reads no log, and closes the files.
     * Blocks. Slices already returned stay readable.
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
            derived.close();
            flusher.stop();
            compactor.release();
            segments.release();
        }
    }

    /**
     * Closes the files if nothing was written since the last call; the next use opens them again. Called periodically,
     * so that idle partitions hold no file handles.
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
