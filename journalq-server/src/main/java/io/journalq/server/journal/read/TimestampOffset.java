package io.journalq.server.journal.read;

/**
 * A record found by time.
 *
 * @param timestampMs its timestamp in milliseconds since 1970 UTC
 * @param offset its offset
 * @param leaderEpoch epoch of the leader that wrote it, -1 if unknown
 */
public record TimestampOffset(long timestampMs, long offset, int leaderEpoch) {}
