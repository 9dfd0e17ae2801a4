package io.journalq.server.producerstate;

/**
 * A transaction of a partition that got its end.
 *
 * @param producerId whose
 * @param firstOffset of its first record
 * @param markerOffset of its end
 * @param lastStableOffset up to where, when this one has ended, every transaction has
 * @param commit whether it committed, else it aborted
 */
public record EndedTransaction(
        long producerId, long firstOffset, long markerOffset, long lastStableOffset, boolean commit) {}
