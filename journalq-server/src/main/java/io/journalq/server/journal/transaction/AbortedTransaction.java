package io.journalq.server.journal.transaction;

/**
 * A transaction whose records are in the journal and are not to be seen by readers of committed records.
 *
 * @param producerId whose
 * @param firstOffset of its first record
 * @param markerOffset of its end
 * @param lastStableOffset when it had ended, every transaction that began before this had
 */
public record AbortedTransaction(long producerId, long firstOffset, long markerOffset, long lastStableOffset) {}
