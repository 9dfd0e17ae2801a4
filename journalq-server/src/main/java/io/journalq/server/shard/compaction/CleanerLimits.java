package io.journalq.server.shard.compaction;

/**
 * Limits of compaction.
 *
 * @param threads maximum number of concurrent compactions
 * @param keyMemoryBytes maximum memory for keys of all compactions together
 * @param backoffMs pause when there is nothing to do, in milliseconds
 */
public record CleanerLimits(int threads, long keyMemoryBytes, long backoffMs) {}
