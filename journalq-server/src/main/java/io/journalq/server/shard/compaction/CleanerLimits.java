package io.journalq.server.shard.compaction;

/**
 * Bounds of compaction.
 *
 * @param threads compactions at the same time
 * @param keyMemoryBytes most memory for keys, of all of them together
 * @param backoffMs pause when there is nothing to do, in milliseconds
 */
public record CleanerLimits(int threads, long keyMemoryBytes, long backoffMs) {}
