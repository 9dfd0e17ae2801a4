package io.journalq.server.shard;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.netty.buffer.ByteBuf;
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
            known = journal.abortedTransactions().findInMemory(fromOffset, slice.offsetLimit());
        } else {
            known = journal.abortedTransactions().isEmpty() ? List.of() : null;
        }
    }

    /** The transactions; null when they have to be looked for with {@link #find}. */
    public List<AbortedTransaction> known() {
        return known;
    }

    /**
     * Looks for the transactions. Blocks.
     *
     * @param records whole batches, all that was read
     * @return null when the records were deleted meanwhile, and nobody can tell any more
     */
    public List<AbortedTransaction> find(ByteBuf records) throws IOException {
        if (known != null) {
            return known;
        }
        List<AbortedTransaction> found = journal.abortedTransactions().find(fromOffset, endOffset(records));
        return journal.startOffset() > fromOffset ? null : found;
    }

    private long endOffset(ByteBuf records) {
        long end = fromOffset;
        int at = records.readerIndex();
        while (at < records.writerIndex()) {
            end = RecordBatch.nextOffset(records, at);
            at += RecordBatch.sizeBytes(records, at);
        }
        return end;
    }
}
