package io.journalq.server.journal;

import io.journalq.server.journal.transaction.TransactionIndex;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What is kept besides the log and could be made anew from it: the state of producers and the index of aborted
 * transactions, which belong together.
 *
 * @param transactions its files are listed in the snapshot that they belong to
 */
record DerivedState(ProducerSnapshots snapshots, TransactionIndex transactions) {
    /** What the log says at one moment, to be kept. */
    @FunctionalInterface
    interface Snapshot {
        /** Makes it durable. Any thread; blocks. */
        void write() throws IOException;
    }

    /** See {@link Journal#writeSnapshot}. */
    void write(long offset, ByteBuffer state, boolean sync, long flushedOffset) throws IOException {
        snapshots.write(offset, transactions.save(), state, sync, flushedOffset);
    }

    /**
     * See {@link Journal#restoreSnapshot}.
     *
     * @param maxOffset no newer snapshot is taken
     * @param firstBaseOffset of the oldest segment; no snapshot from before it is taken, as what came between is gone
     */
    JournalSnapshot restore(long maxOffset, long firstBaseOffset) throws IOException {
        ProducerSnapshots.Stored newest = snapshots.latest(maxOffset);
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

    /** The log was cut there. Blocks. */
    void truncateTo(long endOffset) throws IOException {
        snapshots.truncateTo(endOffset);
        transactions.truncateTo(endOffset);
    }
}
