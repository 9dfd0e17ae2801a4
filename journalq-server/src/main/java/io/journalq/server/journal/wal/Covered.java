package io.journalq.server.journal.wal;

/** Who has something in a write-ahead file: it must stay there until it is safe elsewhere. Any thread. */
public interface Covered {
    /** Everything before this is synced in files of its own. */
    long flushedOffset();

    /** Whether it was deleted, so that nothing of it needs to be safe any more. */
    boolean isGone();

    /** The write-ahead file could be used again if {@link #flushedOffset} moved on. */
    void flushSoon();
}
