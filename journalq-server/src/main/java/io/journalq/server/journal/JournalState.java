package io.journalq.server.journal;

/** What the parts of a journal need to know of the whole. Any thread, except for {@link #isClosed}. */
interface JournalState {
    JournalConfig config();

    /** First offset that may be read. */
    long startOffset();

    /** See {@link JournalStart#isKeptInCheckpointOnly}. */
    boolean isStartKeptInCheckpointOnly();

    /** Everything before this was compacted at least once. */
    long compactedOffset();

    /** Whether the journal is closed or deleted. Owner only. */
    boolean isClosed();
}
