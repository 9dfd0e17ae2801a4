package io.journalq.server.journal;

import io.journalq.server.journal.JournalFlusher.JournalState;
import io.journalq.server.journal.compaction.CompactableSegments;
import io.journalq.server.journal.compaction.CompactedLog;
import io.journalq.server.journal.compaction.CompactionConfig;
import io.journalq.server.journal.compaction.CompactionDebt;
import io.journalq.server.journal.compaction.CompactionJob;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentSwap;
import io.journalq.server.journal.transaction.TransactionIndex;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The view of a journal that compaction has, and its progress. Any thread, unless {@link CompactedLog} says otherwise.
 */
final class JournalCompactor implements CompactedLog {
    private final Path directory;
    private final JournalState state;
    private final JournalWriter writer;
    private final DerivedState derived;
    private final SegmentList segments;
    private final JournalFlusher flusher;
    private volatile long compactedOffset;

    /** The most recently started swap; null before the first. */
    private volatile SegmentSwap swap;

    JournalCompactor(
            Path directory,
            JournalState state,
            SegmentList segments,
            JournalFlusher flusher,
            JournalWriter writer,
            DerivedState derived,
            long compactedOffset) {
        this.directory = directory;
        this.state = state;
        this.writer = writer;
        this.derived = derived;
        this.segments = segments;
        this.flusher = flusher;
        this.compactedOffset = compactedOffset;
    }

    /** See {@link JournalRewrites#debt}. */
    CompactionDebt debt(long stableOffset, long nowMs) {
        return CompactableSegments.of(this, stableOffset, nowMs).debt(compactedOffset, nowMs);
    }

    /** Discards progress behind {@code endOffset}, at which the log was truncated. Owner thread only. */
    void truncateTo(long endOffset) {
        compactedOffset = Math.min(compactedOffset, endOffset);
    }

    /** Records before {@code offset} were removed, so nothing before it is left to compact. Owner thread only. */
    void resetTo(long offset) {
        compactedOffset = offset;
    }

    @Override
    public Path directory() {
        return directory;
    }

    @Override
    public Segment[] segments() {
        return segments.all();
    }

    @Override
    public CompactionConfig config() {
        return state.config().compaction();
    }

    @Override
    public int segmentSizeBytes() {
        return state.config().segmentSizeBytes();
    }

    @Override
    public int indexIntervalBytes() {
        return state.config().indexIntervalBytes();
    }

    @Override
    public long flushedOffset() {
        return flusher.flushedOffset();
    }

    @Override
    public long compactedOffset() {
        return compactedOffset;
    }

    @Override
    public TransactionIndex abortedTransactions() {
        return derived.abortedTransactions();
    }

    @Override
    public void compactedUpTo(long offset) throws IOException {
        compactedOffset = Math.min(offset, writer.writtenOffset());
        flusher.stateChanged();
        flusher.flush(true);
    }

    @Override
    public boolean keepDerivedState(CompactionJob.Owner owner) throws IOException {
        AtomicReference<DerivedState.Snapshot> keep = new AtomicReference<>();
        boolean quiet = owner.run(() -> {
            if (!writer.isDirty()) {
                keep.set(derived.snapshotOfNow());
            }
            return !writer.isDirty();
        });
        if (quiet) {
            keep.get().write();
        }
        return quiet;
    }

    @Override
    public void syncDirectory() throws IOException {
        flusher.createNewest();
        flusher.syncDirectory();
    }

    @Override
    public boolean beginSwap(SegmentSwap next) throws IOException {
        if (state.isClosed() || !segments.swap(next)) {
            return false;
        }
        swap = next;
        return true;
    }

    @Override
    public void completeSwap() throws IOException {
        SegmentSwap begun = swap;
        if (begun != null) {
            flusher.complete(begun);
        }
    }

    /** Lets go of the segments whose replacement the next start completes. Called after the last flush. */
    void release() {
        SegmentSwap begun = swap;
        if (begun != null && !begun.isDone()) {
            begun.replaced().forEach(Segment::release);
        }
    }
}
