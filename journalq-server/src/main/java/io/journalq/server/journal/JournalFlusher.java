package io.journalq.server.journal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentExtent;
import io.journalq.server.journal.segment.SegmentState;
import io.journalq.server.journal.segment.SegmentSwap;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a journal's data durable, and writes its indexes and its checkpoint once they are. Any thread, one at a time. A
 * failed sync fences the journal for good: the kernel may have dropped what it could not write, and a second sync would
 * report success without it.
 */
final class JournalFlusher {
    /** An empty file, see {@link #leaveFence}. */
    static final String FENCE_FILE_NAME = "journal.fenced";

    private static final Logger LOG = LoggerFactory.getLogger(JournalFlusher.class);

    private final FileStore store;
    private final Path directory;
    private final JournalState state;
    private final SegmentList listed;
    private final LeaderEpochs epochs;
    private volatile long flushedOffset;
    private volatile IOException fence;
    /** A file was created since the directory was synced. */
    private volatile boolean directoryChanged;
    /** Something but the data, such as the start offset, differs from the checkpoint. */
    private volatile boolean stateChanged;

    /** A failed write may have left bytes behind the end of this one; null when none has. */
    private volatile Segment dirtyTail;

    private boolean stopped;
    private boolean checkpointFailing;
    private long uncheckpointedBytes;
    private SegmentExtent lastFlushed;

    JournalFlusher(
            FileStore store,
            Path directory,
            JournalState state,
            SegmentList listed,
            LeaderEpochs epochs,
            long flushedOffset) {
        this.store = store;
        this.directory = directory;
        this.state = state;
        this.listed = listed;
        this.epochs = epochs;
        this.flushedOffset = flushedOffset;
    }

    long flushedOffset() {
        return flushedOffset;
    }

    /** Why nothing can be written any more; null while it can. */
    IOException fence() {
        return fence;
    }

    /** As after a sync that failed, but these files' own syncs can be relied on: no trace is left for the next process. */
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
     * A write failed, and may have left bytes behind the segment's end. Nothing may be written in their place before the
     * next flush has cleared them away: a power loss could leave those bytes, or a mixture.
     */
    void tailDirty(Segment segment) {
        dirtyTail = segment;
    }

    boolean isTailDirty() {
        return dirtyTail != null;
    }

    /** Waits for a flush that is under way; later ones do nothing. */
    synchronized void stop() {
        stopped = true;
    }

    /** Syncs what is written and returns up to which offset; writes the checkpoint too when it is due. */
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

    /** Syncs what is written, and then the checkpoint. */
    synchronized void checkpoint() throws IOException {
        checkNotFenced();
        if (stopped) {
            throw new IOException(directory + " is closed");
        }
        Segment[] segments = listed.all();
        writeCheckpoint(List.of(segments), syncWritten(segments), true);
    }

    /**
     * As {@link #checkpoint}; on a full disk it is enough that the newest segment's name says where the log is.
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
            LOG.warn("{}: could not write the checkpoint: {}", directory, failure.toString());
            Segment[] segments = listed.all();
            segments[segments.length - 1].file();
            sync(segments);
            store.syncDirectory(directory);
            return false;
        }
    }

    private void checkNotFenced() throws IOException {
        if (fence != null) {
            throw new IOException(directory + " is fenced since an earlier flush failed", fence);
        }
    }

    /** Syncs what is written, and returns what that was. */
    private List<SegmentState> syncWritten(Segment[] segments) throws IOException {
        clearTail();
        List<SegmentState> states = new ArrayList<>(segments.length);
        for (Segment segment : segments) {
            states.add(state(segment));
        }
        long target = states.get(segments.length - 1).extent().endOffset();
        // A flush that was under way when the newest segment began has taken note of its folder, but not of it.
        if (target > flushedOffset || directoryChanged || !segments[segments.length - 1].isSettled()) {
            sync(segments);
            countFlushed(states.get(segments.length - 1).extent());
            flushedOffset = target;
        }
        return states;
    }

    /**
     * Carries through what {@link SegmentSwap#begin} began. After a failure it may be called again; a restart does it too.
     */
    synchronized void complete(SegmentSwap swap) throws IOException {
        if (stopped || swap.isDone()) {
            return;
        }
        checkNotFenced();
        swap.retireReplaced();
        Segment[] segments = listed.all();
        writeCheckpoint(List.of(segments), syncWritten(segments), true);
        swap.takePlace();
        stateChanged = true;
    }

    /** Without a new checkpoint recovery reads more, but nothing is lost: on a full disk a flush is still a flush. */
    private void tryCheckpoint(List<Segment> segments, List<SegmentState> states) {
        try {
            writeCheckpoint(segments, states, false);
            checkpointFailing = false;
        } catch (IOException failure) {
            if (!checkpointFailing) {
                LOG.warn("{}: could not write the checkpoint, trying again later: {}", directory, failure.toString());
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
            // A crash may bring them back, and then the name of what follows says that they are whole.
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

    /** What is before {@code segment} is synced, but for its name. */
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
                directoryChanged |= !synced;
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

    /** Makes durable which files there are, and which of them have all before them on the disk. */
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

    /** Lets nothing be written any more. Returns what went wrong. */
    private IOException fenced(IOException failure) {
        fence = failure;
        leaveFence(store, directory, failure);
        LOG.error("{}: a flush failed; no more is written to this journal: {}", directory, failure.toString());
        return failure;
    }

    /** Tells the next process of a sync that failed: the system will not, and takes what it did not write for synced. */
    static void leaveFence(FileStore store, Path directory, IOException failure) {
        try {
            store.open(directory.resolve(FENCE_FILE_NAME), true).close();
        } catch (IOException second) {
            failure.addSuppressed(second);
        }
    }

    private void writeCheckpoint(List<Segment> segments, List<SegmentState> states, boolean sync) throws IOException {
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
            JournalCheckpoint checkpoint =
                    new JournalCheckpoint(state.startOffset(), state.compactedOffset(), epochs.entries(), known);
            boolean durable = sync || state.isStartKeptInCheckpointOnly();
            store.replace(directory.resolve(JournalCheckpoint.FILE_NAME), checkpoint.encode(), durable);
            uncheckpointedBytes = 0;
            written = true;
        } finally {
            stateChanged |= !written;
        }
    }

    /** The journal was cut: nothing behind {@code endOffset} is flushed. The checkpoint must not vouch for it either. */
    synchronized void truncated(long endOffset) throws IOException {
        flushedOffset = Math.min(flushedOffset, endOffset);
        lastFlushed = null;
        List<Segment> segments = new ArrayList<>();
        List<SegmentState> states = new ArrayList<>();
        for (Segment segment : listed.all()) {
            if (segment.endOffset() <= flushedOffset) {
                segments.add(segment);
                states.add(state(segment));
            }
        }
        writeCheckpoint(segments, states, true);
    }

    private static SegmentState state(Segment segment) {
        return new SegmentState(segment.extent(), segment.times(), segment.badRanges());
    }
}
