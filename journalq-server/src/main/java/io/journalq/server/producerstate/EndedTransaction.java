package io.journalq.server.producerstate;

/**
 * A transaction of a partition that has ended.
 *
 * @param producerId of its producer
 * @param firstOffset of its first record
 * @param markerOffset of its marker
 * @param lastStableOffset after this transaction ended: every transaction that began before this offset had ended
 * @param commit true for commit, false for abort
 */
public record EndedTransaction(
        long producerId, long firstOffset, long markerOffset, long lastStableOffset, boolean commit) {}
