package io.journalq.server.journal.wal;

/**
 * The owner of data in a write-ahead file. The data must stay there until it is durable in the owner's files. Any
 * thread.
 */
public interface CoveredJournal {
    /** All data before this offset is synced in the owner's files. */
    long flushedOffset();

    /** Whether the owner was deleted, so that its data need not be durable any more. */
    boolean isGone();

    /** Requests a flush, because the write-ahead file can be reused once {@link #flushedOffset} has advanced. */
    void flushSoon();
}
