package io.journalq.server.journal.segment;

/**
 * Where a leader epoch ends.
 *
 * @param epoch the epoch that was found, which may be older than the requested one; -1 if unknown
 * @param endOffset the offset behind its last record; -1 if unknown
 */
public record EpochEndOffset(int epoch, long endOffset) {}
