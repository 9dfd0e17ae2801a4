package io.journalq.server.journal.transaction;

/**
 * A transaction whose records are in the journal but hidden from read-committed consumers.
 *
 * @param producerId of the transaction's producer
 * @param firstOffset of its first record
 * @param markerOffset of its abort marker
 * @param lastStableOffset after this transaction ended: every transaction that began before this offset had ended
 */
public record AbortedTransaction(long producerId, long firstOffset, long markerOffset, long lastStableOffset) {}
