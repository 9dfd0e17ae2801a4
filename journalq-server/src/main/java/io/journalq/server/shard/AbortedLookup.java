package io.journalq.server.shard;

import io.journalq.server.journal.Journal;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.transaction.AbortedTransaction;
import java.io.IOException;
import java.util.List;

/** Which transactions a reader of committed records is to leave out of what one read found. Any thread. */
public final class AbortedLookup {
    private final Journal journal;
    private final long fromOffset;
    private final List<AbortedTransaction> known;

    /** For what a read from {@code fromOffset} on found. On the partition's loop. */
    AbortedLookup(Journal journal, long fromOffset, JournalSlice slice) {
        this.journal = journal;
        this.fromOffset = fromOffset;
        if (slice.isWarm()) {
            known = journal.derivedState().abortedTransactions().findInMemory(fromOffset, slice.offsetLimit());
        } else {
            known = journal.derivedState().abortedTransactions().isEmpty() ? List.of() : null;
        }
    }

    /** The transactions; null when they have to be looked for with {@link #find}. */
    public List<AbortedTransaction> known() {
        return known;
    }

    /**
     * Looks for the transactions. Blocks.
     *
     * @param endOffset offset behind the last record that was found
     * @return null when the records were deleted meanwhile, and nobody can tell any more
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
