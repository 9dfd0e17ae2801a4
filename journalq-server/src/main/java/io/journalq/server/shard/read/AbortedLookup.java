package io.journalq.server.shard.read;

import io.journalq.server.journal.Journal;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.transaction.AbortedTransaction;
import java.io.IOException;
import java.util.List;

/** Finds the aborted transactions that a read-committed consumer must skip in the records of one read. Any thread. */
public final class AbortedLookup {
    private final Journal journal;
    private final long fromOffset;
    private final List<AbortedTransaction> known;

    /** Creates a lookup for the records that a read from {@code fromOffset} on found. On the partition's loop. */
    AbortedLookup(Journal journal, long fromOffset, JournalSlice slice) {
        this.journal = journal;
        this.fromOffset = fromOffset;
        if (slice.isWarm()) {
            known = journal.derivedState().abortedTransactions().findInMemory(fromOffset, slice.offsetLimit());
        } else {
            known = journal.derivedState().abortedTransactions().isEmpty() ? List.of() : null;
        }
    }

    /** The transactions; null if {@link #find} must be called. */
    public List<AbortedTransaction> known() {
        return known;
    }

    /**
     * Finds the transactions. Blocks.
     *
     * @param endOffset offset behind the last record that was found
     * @return null if the records were deleted in the meantime, so that their transactions are unknown
     */
    public List<AbortedTransaction> find(long endOffset) throws IOException {
        if (known != null) {
            return known;
        }
        List<AbortedTransaction> found =
                journal.derivedState().abortedTransactions().find(fromOffset, endOffset);
        return journal.startOffset() > fromOffset ? null : found;
    }
}
