package io.journalq.server.journal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentState;
import io.journalq.server.journal.segment.SegmentState.SegmentExtent;
import io.journalq.server.journal.segment.SegmentSwap;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a journal's data durable, and then writes its indexes and its checkpoint. Any thread, one call at a time. A
 * failed sync fences the journal permanently: the kernel may have dropped the pages that it could not write, and a
 * second sync would report success without writing them.
 */
final class JournalFlusher {
    /** Name of an empty file, see {@link #leaveFence}. */
    static final String FENCE_FILE_NAME = "journal.fenced";

    private static final Logger LOG = LoggerFactory.getLogger(JournalFlusher.class);

    private final FileStore store;
    private final Path directory;
    private final JournalState state;
    private final SegmentList listed;
    private final LeaderEpochs epochs;
    private volatile long flushedOffset;
    /** The start of the log that a start of the broker finds, also after a power loss. */
    private volatile long keptStartOffset;

    private volatile IOException fence;
    /** A file was created since the directory was last synced. */
    private volatile boolean directoryChanged;
    /** State other than the data, such as the start offset, differs from the checkpoint. */
    private volatile boolean stateChanged;

    /** The segment behind whose end a failed write may have left bytes; null if there is none. */
    private volatile Segment dirtyTail;

    private boolean stopped;
    private boolean checkpointFailing;
    private long uncheckpointedBytes;
    private SegmentExtent lastFlushed;

    /** The view of a journal that its parts have. Any thread, except for {@link #isClosed}. */
    interface JournalState {
        JournalConfig config();

        /** First offset that may be read. */
        long startOffset();

        /** See {@link Journal#setHighWatermark}. */
        long highWatermark();

        /** See {@link LogStart#isKeptInCheckpointOnly}. */
        boolean isStartKeptInCheckpointOnly();

        /** Records before this offset were compacted at least once. */
        long compactedOffset();

        /** Whether the journal is closed or deleted. Owner thread only. */
        boolean isClosed();
    }

    JournalFlusher(
            FileStore store,
            Path directory,
            JournalState state,
            SegmentList listed,
            LeaderEpochs epochs,
            long flushedOffset,
            long keptStartOffset) {
        this.store = store;
        this.directory = directory;
        this.state = state;
        this.listed = listed;
        this.epochs = epochs;
        this.flushedOffset = flushedOffset;
        this.keptStartOffset = keptStartOffset;
    }

    long flushedOffset() {
        return flushedOffset;
    }

    /** See {@link Journal#keptStartOffset}. */
    long keptStartOffset() {
        return Math.min(keptStartOffset, state.startOffset());
    }

    /** Why the journal accepts no writes; null while it does. */
    IOException fence() {
        return fence;
    }

    /**
     * Fences the journal without leaving a trace for the next process, because the syncs of this journal's files can be
     * relied on.
     */
    void fence(IOException failure) {
        if (fence == null) {
            fence = failure;
        }
    }

    void directoryChanged() {
        directoryChanged = true;
        stateChanged = true;
    }

    void stateChanged() {
        stateChanged = true;
    }

    /**
     * Notes that a write failed and may have left bytes behind the segment's end. The next flush must remove them
     * before anything is written in their place: otherwise a power loss could leave the old bytes, or a mixture of
     * both.
     */
    void tailDirty(Segment segment) {
        dirtyTail = segment;
    }

    boolean isTailDirty() {
        return dirtyTail != null;
    }

    /** Waits for the flush in progress; later flushes do nothing. */
    synchronized void stop() {
        stopped = true;
    }

    /**
     * Syncs all written batches and returns the offset up to which they are durable. Also writes the checkpoint if it
     * is due.
     */
    synchronized long flush(boolean checkpointNow) throws IOException {
        checkNotFenced();
        if (stopped) {
            return flushedOffset;
        }
        Segment[] segments = listed.all();
        List<SegmentState> states = syncWritten(segments);
        boolean due = uncheckpointedBytes >= state.config().checkpointIntervalBytes();
        if (due || (checkpointNow && (stateChanged || uncheckpointedBytes > 0))) {
            tryCheckpoint(List.of(segments), states);
        }
        return flushedOffset;
    }

    /** Syncs all written batches and then writes the checkpoint. */
    synchronized void checkpoint() throws IOException {
        checkNotFenced();
        if (stopped) {
            throw new IOException(directory + " is closed");
        }
        Segment[] segments = listed.all();
        writeCheckpoint(List.of(segments), syncWritten(segments), flushedOffset, true);
    }

    /**
     * Like {@link #checkpoint}; on a full disk it is sufficient that the name of the newest segment shows where the log
     * is.
     *
     * @return whether it was written
     */
    synchronized boolean checkpointOrName() throws IOException {
        try {
            checkpoint();
            return true;
        } catch (IOException failure) {
            if (fence != null || stopped) {
                throw failure;
            }
            LOG.warn("{}: cannot write the checkpoint: {}", directory, failure.toString());
            Segment[] segments = listed.all();
            segments[segments.length - 1].file();
            sync(segments);
            store.syncDirectory(directory);
            return false;
        }
    }

    private void checkNotFenced() throws IOException {
        if (fence != null) {
            throw new IOException(directory + " is fenced because an earlier flush failed", fence);
        }
    }

    /** Syncs all written batches and returns the state of the segments that are now durable. */
    private List<SegmentState> syncWritten(Segment[] segments) throws IOException {
        clearTail();
        List<SegmentState> states = new ArrayList<>(segments.length);
        for (Segment segment : segments) {
            states.add(state(segment));
        }
        long target = states.get(segments.length - 1).extent().endOffset();
        // A flush that was in progress when the newest segment was started has recorded its directory entry, but not
        // the segment.
        if (target > flushedOffset || directoryChanged || !segments[segments.length - 1].isSettled()) {
            sync(segments);
            countFlushed(states.get(segments.length - 1).extent());
            flushedOffset = target;
        }
        return states;
    }

    /**
     * Completes the steps that {@link SegmentSwap#begin} began. After a failure it may be called again; a restart does
     * the same.
     */
    synchronized void complete(SegmentSwap swap) throws IOException {
        if (stopped || swap.isDone()) {
            return;
        }
        checkNotFenced();
        swap.retireReplaced();
        Segment[] segments = listed.all();
        writeCheckpoint(List.of(segments), syncWritten(segments), flushedOffset, true);
        swap.takePlace();
        stateChanged = true;
    }

    /** Without a new checkpoint, recovery reads more, but nothing is lost: on a full disk a flush still succeeds. */
    private void tryCheckpoint(List<Segment> segments, List<SegmentState> states) {
        try {
            writeCheckpoint(segments, states, flushedOffset, false);
            checkpointFailing = false;
        } catch (IOException failure) {
            if (!checkpointFailing) {
                LOG.warn("{}: cannot write the checkpoint, retrying later: {}", directory, failure.toString());
            }
            checkpointFailing = true;
        }
    }

    private void clearTail() throws IOException {
        Segment dirty = dirtyTail;
        if (dirty != null && dirty.tryRetain()) {
            try {
                truncate(dirty);
                dirty.file().sync();
            } catch (SyncNotBegunException mayBeTriedAgain) {
                throw mayBeTriedAgain;
            } catch (IOException failure) {
                throw fenced(failure);
            } finally {
                dirty.release();
            }
        }
        dirtyTail = null;
    }

    private static void truncate(Segment segment) throws SyncNotBegunException {
        try {
            segment.file().truncate(segment.sizeBytes());
        } catch (IOException failure) {
            throw new SyncNotBegunException(segment.logPath(), failure);
        }
    }

    private void countFlushed(SegmentExtent now) {
        boolean same = lastFlushed != null && lastFlushed.baseOffset() == now.baseOffset();
        uncheckpointedBytes += Math.max(1, now.sizeBytes() - (same ? lastFlushed.sizeBytes() : 0));
        lastFlushed = now;
    }

    private void sync(Segment[] segments) throws IOException {
        try {
            // A crash may bring these segments back, and then the name of the segment behind them asserts that they are
            // complete.
            for (Segment segment : listed.beingDeleted()) {
                syncData(segment);
            }
            for (Segment segment : segments) {
                syncData(segment);
            }
            syncDirectoryIfChanged();
        } catch (SyncNotBegunException mayBeTriedAgain) {
            directoryChanged = true;
            throw mayBeTriedAgain;
        } catch (IOException failure) {
            throw fenced(failure);
        }
    }

    private void syncData(Segment segment) throws IOException {
        if (segment.endOffset() > flushedOffset && segment.tryRetain()) {
            try {
                settle(segment);
                opened(segment).sync();
            } finally {
                segment.release();
            }
        } else {
            settle(segment);
        }
    }

    /** Syncs everything before {@code segment} except for its name. */
    private void settle(Segment segment) throws IOException {
        if (!segment.isSettled()) {
            syncDirectoryIfChanged();
            directoryChanged = true;
            try {
                segment.settle();
            } catch (IOException failure) {
                throw new SyncNotBegunException(segment.logPath(), failure);
            }
        }
    }

    private void syncDirectoryIfChanged() throws IOException {
        if (directoryChanged) {
            directoryChanged = false;
            boolean synced = false;
            try {
                store.syncDirectory(directory);
                synced = true;
            } finally {
                if (!synced) {
                    directoryChanged = true;
                }
            }
        }
    }

    private static LogFile opened(Segment segment) throws SyncNotBegunException {
        try {
            return segment.file();
        } catch (IOException failure) {
            throw new SyncNotBegunException(segment.logPath(), failure);
        }
    }

    /**
     * Creates the file of the newest segment, which otherwise has none before it is written. A start takes the last
     * segment that has a file for the newest.
     */
    synchronized void createNewest() throws IOException {
        Segment newest = listed.newest();
        if (newest.tryRetain()) {
            try {
                opened(newest);
            } finally {
                newest.release();
            }
        }
    }

    /** Makes durable which files exist, and which of them have only synced segments before them. */
    synchronized void syncDirectory() throws IOException {
        checkNotFenced();
        try {
            for (Segment segment : listed.all()) {
                if (segment.baseOffset() <= flushedOffset) {
                    settle(segment);
                }
            }
            store.syncDirectory(directory);
        } catch (SyncNotBegunException mayBeTriedAgain) {
            throw mayBeTriedAgain;
        } catch (IOException failure) {
            throw fenced(failure);
        }
    }

    /** Fences the journal and returns the failure. */
    private IOException fenced(IOException failure) {
        fence = failure;
        leaveFence(store, directory, failure);
        LOG.error("{}: a flush failed; the journal accepts no more writes: {}", directory, failure.toString());
        return failure;
    }

    /**
     * Informs the next process of a failed sync. The system does not: it considers the pages that it failed to write as
     * synced.
     */
    static void leaveFence(FileStore store, Path directory, IOException failure) {
        try {
            store.open(directory.resolve(FENCE_FILE_NAME), true).close();
        } catch (IOException second) {
            failure.addSuppressed(second);
        }
    }

    /** @param endOffset leader epochs that begin at or behind this are left out */
    private void writeCheckpoint(List<Segment> segments, List<SegmentState> states, long endOffset, boolean sync)
            throws IOException {
        stateChanged = false;
        boolean written = false;
        try {
            List<SegmentState> known = new ArrayList<>(states.size());
            for (int i = 0; i < states.size(); i++) {
                Segment segment = segments.get(i);
                if (!segment.isInPlace()) {
                    continue;
                }
                known.add(states.get(i));
                if (segment.tryRetain()) {
                    try {
                        segment.saveIndex(states.get(i).extent().sizeBytes());
                    } finally {
                        segment.release();
                    }
                }
            }
            // An epoch that has begun may still begin at a lower offset, if the batches before it cannot be written.
            LeaderEpochs.Entries flushedEpochs = epochs.entries().before(endOffset);
            long startOffset = state.startOffset();
            JournalCheckpoint checkpoint = new JournalCheckpoint(
                    startOffset, state.compactedOffset(), state.highWatermark(), flushedEpochs, known);
            boolean durable = sync || state.isStartKeptInCheckpointOnly();
            store.replace(directory.resolve(JournalCheckpoint.FILE_NAME), checkpoint.encode(), durable);
            keptStartOffset = startOffset;
            uncheckpointedBytes = 0;
            written = true;
        } finally {
            if (!written) {
                stateChanged = true;
            }
        }
    }

    /** A change of the log's end, in which its owner removes records from the files. */
    @FunctionalInterface
    interface Truncation {
        /** Blocks. Returns the new end. */
        long run() throws IOException;
    }

    /**
     * Truncates the log, with one checkpoint before and one after the change. The former lists none of the segments
     * and leader epochs that reach behind {@code offset}: recovery would miss segments that are removed already, and
     * expect those epochs of the next batches. A failure fences the
     * journal, because the log may have any end between the old and the new one.
     *
     * @param change removes every batch that reaches behind {@code offset}
     * @return the new end
     */
    synchronized long truncate(long offset, Truncation change) throws IOException {
        checkNotFenced();
        if (stopped) {
            throw new IOException(directory + " is closed");
        }
        try {
            checkpointUpTo(offset);
            long endOffset = change.run();
            flushedOffset = Math.min(flushedOffset, endOffset);
            lastFlushed = null;
            checkpointUpTo(flushedOffset);
            store.syncDirectory(directory);
            return endOffset;
        } catch (IOException failure) {
            throw fenced(failure);
        }
    }

    /** Writes a checkpoint of the segments that end at or before {@code offset}. */
    private void checkpointUpTo(long offset) throws IOException {
        List<Segment> segments = new ArrayList<>();
        List<SegmentState> states = new ArrayList<>();
        for (Segment segment : listed.all()) {
            if (segment.endOffset() <= offset) {
                segments.add(segment);
                states.add(state(segment));
            }
        }
        writeCheckpoint(segments, states, offset, true);
    }

    /**
     * Stores that the log has no records and begins at {@code offset}, and then runs {@code change}, in which the owner
     * removes the records. Without a change if the checkpoint cannot be written.
     */
    synchronized void reset(long offset, Runnable change) throws IOException {
        checkNotFenced();
        if (stopped) {
            throw new IOException(directory + " is closed");
        }
        JournalCheckpoint checkpoint = JournalCheckpoint.ofEmpty(offset);
        store.replace(directory.resolve(JournalCheckpoint.FILE_NAME), checkpoint.encode(), true);
        change.run();
        flushedOffset = offset;
        keptStartOffset = offset;
        lastFlushed = null;
        uncheckpointedBytes = 0;
        dirtyTail = null;
        stateChanged = false;
    }

    private static SegmentState state(Segment segment) {
        return new SegmentState(segment.extent(), segment.times(), segment.badRanges());
    }
}
