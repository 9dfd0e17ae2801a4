package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.journal.compaction.KeyOffsets;
import io.journalq.server.observe.BrokerMetrics;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.compaction.CleanerCounters;
import io.journalq.server.shard.compaction.LogCleaner;
import io.journalq.server.shard.compaction.LogCleaner.CleanerLimits;
import io.journalq.server.shard.compaction.LogCleaner.CleanerSurroundings;
import java.util.function.Supplier;

/** Sets up compaction and its metrics. */
final class CompactionSetup {
    private CompactionSetup() {}

    /**
     * Creates a cleaner that is not started.
     *
     * @param ids supplies secrets that cannot be guessed
     */
    static LogCleaner of(BrokerConfig config, Shards shards, CleanerSurroundings surroundings, Supplier<Uuid> ids) {
        int threads = config.get(BrokerSettings.LOG_CLEANER_THREADS);
        CleanerLimits limits = new CleanerLimits(
                threads,
                config.get(BrokerSettings.LOG_CLEANER_DEDUPE_BUFFER_SIZE),
                config.get(BrokerSettings.LOG_CLEANER_BACKOFF_MS));
        return new LogCleaner(
                shards, surroundings, limits, () -> keyOffsets(limits.keyMemoryBytes() / threads, ids.get()));
    }

    /** Clients choose the keys, so they must not know the secret of the hash. */
    private static KeyOffsets keyOffsets(long sizeBytes, Uuid secret) {
        return new KeyOffsets(sizeBytes, secret.mostSignificantBits(), secret.leastSignificantBits());
    }

    static void bind(CleanerCounters counters, BrokerMetrics metrics) {
        metrics.counter("journalq.cleaner.runs", "Successful compactions of partitions.", counters::runs);
        metrics.counter("journalq.cleaner.failures", "Failed compactions of partitions.", counters::failures);
        metrics.counter("journalq.cleaner.read.bytes", "Bytes read by compaction.", counters::readBytes);
        metrics.counter("journalq.cleaner.freed.bytes", "Bytes freed by compaction.", counters::freedBytes);
        metrics.ratioGauge(
                "journalq.cleaner.max.dirty.ratio",
                "Largest fraction of a compacted partition that was written since its last compaction.",
                counters::maxDirtyRatio);
        metrics.gauge(
                "journalq.cleaner.uncleanable.partitions",
                "Partitions whose compaction failed; the log states the reason.",
                counters::uncleanablePartitions);
        metrics.timestampGauge(
                "journalq.cleaner.last.run.timestamp.seconds",
                "Time at which partitions were last examined for compaction, in seconds since 1970-01-01 UTC.",
                counters::lastRunMs);
    }
}
