package io.journalq.server.journal.segment;

/**
 * Where a leader's epoch ends.
 *
 * @param epoch the epoch that is answered for, which may be older than the one asked for; -1 when unknown
 * @param endOffset the offset behind its last record; -1 when unknown
 */
public record EpochEndOffset(int epoch, long endOffset) {}
