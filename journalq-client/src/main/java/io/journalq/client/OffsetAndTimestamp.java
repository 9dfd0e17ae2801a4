package io.journalq.client;

/**
 * The result of a lookup by time. Immutable.
 *
 * @param offset the offset of the first record at or after the requested time
 * @param timestampMs the timestamp of that record, in milliseconds since 1970 UTC
 */
public record OffsetAndTimestamp(long offset, long timestampMs) {}
