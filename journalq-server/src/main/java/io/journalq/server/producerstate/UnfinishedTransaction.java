package io.journalq.server.producerstate;

/**
 * A transaction that has records in a partition and no marker there yet.
 *
 * @param producerId of its producer
 * @param firstOffset of its first record here
 * @param startedMs when that record was appended, in milliseconds since 1970 UTC
 */
public record UnfinishedTransaction(long producerId, long firstOffset, long startedMs) {}
