package io.journalq.server.journal;

import io.journalq.server.journal.read.JournalReads;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.journalq.server.journal.transaction.TransactionIndex;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * State that is stored beside a journal's log and can be rebuilt from it: snapshots of what the owner derived from the
 * batches, and the index of aborted transactions. A snapshot and the index files that it lists belong together. Owner
 * thread only, unless a method says "any thread".
 */
public final class DerivedState {
    private static final Logger LOG = LoggerFactory.getLogger(DerivedState.class);

    private final ProducerSnapshots snapshots;

    /** Each snapshot lists the files of this index that belong to it. */
    private final TransactionIndex transactions;

    private final SegmentList segments;
    private final JournalWriter writer;
    private final JournalFlusher flusher;
    private Supplier<ByteBuffer> stateOfNow = () -> null;

    /** Guarded by the snapshots. */
    private boolean closed;

    DerivedState(
            ProducerSnapshots snapshots,
            TransactionIndex transactions,
            SegmentList segments,
            JournalWriter writer,
            JournalFlusher flusher) {
        this.snapshots = snapshots;
        this.transactions = transactions;
        this.segments = segments;
        this.writer = writer;
        this.flusher = flusher;
    }

    /** A snapshot of the state at one moment, not yet written. */
    @FunctionalInterface
    interface Snapshot {
        /** Writes the snapshot and makes it durable. Any thread; blocks. */
        void write() throws IOException;
    }

    /**
     * Writes a snapshot of {@code state} as of {@code offset}. Keeps the snapshot before it and deletes older ones.
     * Every transaction that was aborted before this offset must have been added. Does nothing if the log was truncated
     * before {@code offset} or closed meanwhile. Any thread; blocks.
     */
    public void writeSnapshot(long offset, ByteBuffer state) throws IOException {
        write(offset, state, false);
    }

    /** Like {@link #writeSnapshot}, but the snapshot is durable when this returns. */
    public void writeDurableSnapshot(long offset, ByteBuffer state) throws IOException {
        write(offset, state, true);
    }

    private void write(long offset, ByteBuffer state, boolean sync) throws IOException {
        synchronized (snapshots) {
            if (closed || offset > writer.writtenOffset()) {
                // The state is from before a truncation, or the files have another owner by now.
                LOG.info("not writing a late snapshot of producers as of offset {}", offset);
                return;
            }
            long flushedOffset = flusher.flushedOffset();
            snapshots.write(offset, transactions.save(), state, sync, flushedOffset);
        }
    }

    /** Waits for the snapshot that is being written; later ones are not written. Any thread; blocks. */
    void close() {
        synchronized (snapshots) {
            closed = true;
        }
    }

    /**
     * Returns the newest healthy snapshot whose records the journal still has, and restores the index of aborted
     * transactions to the same offset. The caller then replays the batches behind the snapshot and adds their aborted
     * transactions. Call it before the first append. Any thread; blocks.
     *
     * @return null if there is no such snapshot: the caller then replays the whole log
     */
    public JournalSnapshot restoreSnapshot() throws IOException {
        // A snapshot from before the oldest segment is useless, because the records between the two are gone.
        long firstBaseOffset = segments.all()[0].baseOffset();
        ProducerSnapshots.Stored newest = snapshots.latest(writer.writtenOffset());
        while (newest != null && newest.snapshot().offset() >= firstBaseOffset) {
            long offset = newest.snapshot().offset();
            if (transactions.restore(newest.indexFiles(), offset, firstBaseOffset)) {
                return newest.snapshot();
            }
            newest = snapshots.latest(offset - 1);
        }
        transactions.clear();
        return null;
    }

    /**
     * Writes a durable snapshot before records are deleted or compacted away, because the state cannot be rebuilt
     * without them.
     *
     * @param state as of the journal's end; requested from the owner while nothing is staged
     */
    public void keepBeforeRemoval(Supplier<ByteBuffer> state) {
        stateOfNow = state;
    }

    /**
     * A snapshot of the state as of the journal's end, written and synced by {@link Snapshot#write}. Call it while
     * nothing is staged.
     */
    Snapshot snapshotOfNow() {
        long offset = writer.writtenOffset();
        ByteBuffer state = stateOfNow.get();
        return () -> {
            if (state != null) {
                writeDurableSnapshot(offset, state);
                flusher.flush(false);
            }
        };
    }

    /** Adds an aborted transaction whose marker is written. Markers come in the order of offsets. */
    public void addAborted(AbortedTransaction aborted) {
        Segment[] all = segments.all();
        Segment segment = all[JournalReads.segmentAt(all, aborted.markerOffset())];
        transactions.add(segment.baseOffset(), aborted);
    }

    /** The index of aborted transactions. Any thread. */
    public TransactionIndex abortedTransactions() {
        return transactions;
    }

    /**
     * Deletes the aborted transactions of the segments before {@code firstBaseOffset}, once those segments are gone for
     * good. Any thread; blocks.
     */
    void dropBefore(long firstBaseOffset) {
        if (!transactions.isEmpty()) {
            transactions.deleteAll(transactions.dropBefore(firstBaseOffset));
        }
    }

    /** Deletes all snapshots. Blocks. */
    void dropSnapshots() throws IOException {
        snapshots.truncateTo(-1);
    }

    /** Discards the state behind {@code endOffset}, at which the log was truncated. Blocks. */
    void truncateTo(long endOffset) throws IOException {
        snapshots.truncateTo(endOffset);
        transactions.truncateTo(endOffset);
    }
}
