package io.journalq.client;

/**
 * The answer to a search by time. Immutable.
 *
 * @param offset the first record at or after the time asked for
 * @param timestampMs that record's timestamp, milliseconds since 1970 UTC
 */
public record OffsetAndTimestamp(long offset, long timestampMs) {}
