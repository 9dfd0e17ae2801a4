package io.journalq.server.journal;

/** The view of a journal that its parts have. Any thread, except for {@link #isClosed}. */
interface JournalState {
    JournalConfig config();

    /** First offset that may be read. */
    long startOffset();

    /** See {@link JournalStart#isKeptInCheckpointOnly}. */
    boolean isStartKeptInCheckpointOnly();

    /** Records before this offset were compacted at least once. */
    long compactedOffset();

    /** Whether the journal is closed or deleted. Owner thread only. */
    boolean isClosed();
}
