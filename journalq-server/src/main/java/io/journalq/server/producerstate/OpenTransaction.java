package io.journalq.server.producerstate;

/**
 * A transaction that has records in a partition and no end there yet.
 *
 * @param producerId whose
 * @param firstOffset of its first record here
 * @param startedMs when that was appended, in milliseconds since 1970 UTC
 */
public record OpenTransaction(long producerId, long firstOffset, long startedMs) {}
