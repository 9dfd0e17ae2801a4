package io.journalq.server.journal;

import io.journalq.server.journal.JournalFlusher.JournalState;
import io.journalq.server.journal.compaction.CompactionDebt;
import io.journalq.server.journal.compaction.CompactionJob;
import io.journalq.server.journal.compaction.CompactionJob.CompactionResult;
import io.journalq.server.journal.compaction.JournalCompaction;
import io.journalq.server.journal.compaction.SegmentHealing;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.segment.LeaderEpochs;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Replaces closed segments of a journal by others, for compaction and for healing. Only one of both runs at a time. Any
 * thread; {@link #compact} and {@link #heal} block.
 */
public final class JournalRewrites {
    private final JournalState state;
    private final LeaderEpochs epochs;
    private final FileStore store;
    private final JournalCompactor compactor;
    private final AtomicBoolean rewriting = new AtomicBoolean();

    JournalRewrites(JournalState state, LeaderEpochs epochs, FileStore store, JournalCompactor compactor) {
        this.state = state;
        this.epochs = epochs;
        this.store = store;
        this.compactor = compactor;
    }

    /**
     * The amount of work for compaction. Any thread.
     *
     * @param stableOffset records at or behind this are not compacted, because they belong to transactions that may
     *     still be aborted
     */
    public CompactionDebt debt(long stableOffset, long nowMs) {
        return compactor.debt(stableOffset, nowMs);
    }

    /**
     * Removes superseded records. Any thread; blocks while it reads and rewrites the log. Does nothing while the log is
     * already being rewritten.
     *
     * @throws IOException if the log cannot be read or written, or is damaged; segments that were already compacted
     *     stay compacted
     */
    public CompactionResult compact(CompactionJob job) throws IOException {
        if (!rewriting.compareAndSet(false, true)) {
            return new CompactionResult(0, 0, 0);
        }
        try {
            return new JournalCompaction(store, compactor, job).run();
        } finally {
            rewriting.set(false);
        }
    }

    /**
     * Replaces the closed segment that holds {@code offset}, because it is damaged, with the same batches of another
     * replica. Any thread; blocks.
     *
     * @return false if the journal was closed or changed meanwhile
     * @throws IOException if the segment cannot be replaced now; the message states the reason. It then stays
     */
    public boolean heal(long offset, SegmentHealing.Source source, CompactionJob.Owner owner) throws IOException {
        if (mayHaveGaps()) {
            throw new IOException("replicas of a compacted topic differ");
        }
        if (!rewriting.compareAndSet(false, true)) {
            throw new IOException("the log is being rewritten");
        }
        try {
            SegmentHealing.Epochs known =
                    at -> at < state.startOffset() ? -1 : epochs.entries().epochOf(at);
            return new SegmentHealing(store, compactor, new SegmentHealing.Job(source, known, owner)).run(offset);
        } finally {
            rewriting.set(false);
        }
    }

    /** Whether compaction may have removed records, so that there are offsets without a record. Any thread. */
    public boolean mayHaveGaps() {
        return state.config().compaction().enabled() || compactor.compactedOffset() > state.startOffset();
    }
}
