package io.journalq.server.journal;

import io.journalq.server.journal.wal.CoveredJournal;

/** An owner of data in write-ahead files, whose durable offset is set by the test. */
final class TestCover implements CoveredJournal {
    long flushedOffset;
    boolean gone;
    int asked;

    @Override
    public long flushedOffset() {
        return flushedOffset;
    }

    @Override
    public boolean isGone() {
        return gone;
    }

    @Override
    public void flushSoon() {
        asked++;
    }
}
