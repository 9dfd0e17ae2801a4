package io.journalq.server.journal;

import io.journalq.server.journal.read.JournalReads;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.journalq.server.journal.transaction.TransactionIndex;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Supplier;

/**
 * What is kept besides a journal's log and could be made anew from it: snapshots of what the owner derived from the
 * batches, and the index of aborted transactions, which belong together. Owner only where it does not say "any thread".
 */
public final class DerivedState {
    private final ProducerSnapshots snapshots;

    /** Its files are listed in the snapshot that they belong to. */
    private final TransactionIndex transactions;

    private final SegmentList segments;
    private final JournalWriter writer;
    private final JournalFlusher flusher;
    private Supplier<ByteBuffer> stateOfNow = () -> null;

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

    /** What the log says at one moment, to be kept. */
    @FunctionalInterface
    interface Snapshot {
        /** Makes it durable. Any thread; blocks. */
        void write() throws IOException;
    }

    /**
     * Keeps {@code state} as of {@code offset}, with the one before it; older ones are deleted. Every aborted transaction
     * that ended before it must have been added. Any thread; blocks.
     */
    public void writeSnapshot(long offset, ByteBuffer state) throws IOException {
        write(offset, state, false);
    }

    /** As {@link #writeSnapshot}, and it is on the disk when this returns. */
    public void writeDurableSnapshot(long offset, ByteBuffer state) throws IOException {
        write(offset, state, true);
    }

    private void write(long offset, ByteBuffer state, boolean sync) throws IOException {
        long flushedOffset = flusher.flushedOffset();
        snapshots.write(offset, transactions.save(), state, sync, flushedOffset);
    }

    /**
     * The newest healthy snapshot of what the journal holds, to which the index of aborted transactions is brought; what
     * comes behind it is to be replayed, and aborted transactions to be added. Before the first append; any thread; blocks.
     *
     * @return null when there is none: then everything is to be replayed
     */
    public JournalSnapshot restoreSnapshot() throws IOException {
        // From before the oldest segment none is taken, as what came between is gone.
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
     * Before records are deleted or compacted away, what they say is kept as {@link #writeDurableSnapshot} does.
     *
     * @param state as of the journal's end; asked by the owner when nothing is staged
     */
    public void keepBeforeRemoval(Supplier<ByteBuffer> state) {
        stateOfNow = state;
    }

    /** What the log says now is kept, and all of it synced. With nothing staged. */
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

    /** Takes in an aborted transaction whose end is written. Ends come in order. */
    public void addAborted(AbortedTransaction aborted) {
        Segment[] all = segments.all();
        Segment segment = all[JournalReads.segmentAt(all, aborted.markerOffset())];
        transactions.add(segment.baseOffset(), aborted);
    }

    /** The aborted transactions. Any thread. */
    public TransactionIndex abortedTransactions() {
        return transactions;
    }

    /** The segments before {@code firstBaseOffset} are gone for good, and what was aborted in them. Any thread; blocks. */
    void dropBefore(long firstBaseOffset) {
        if (!transactions.isEmpty()) {
            transactions.deleteAll(transactions.dropBefore(firstBaseOffset));
        }
    }

    /** The log was cut there. Blocks. */
    void truncateTo(long endOffset) throws IOException {
        snapshots.truncateTo(endOffset);
        transactions.truncateTo(endOffset);
    }
}
