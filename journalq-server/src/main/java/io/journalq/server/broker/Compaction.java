package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.journal.compaction.KeyOffsets;
import io.journalq.server.observe.BrokerMetrics;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.compaction.CleanerCounters;
import io.journalq.server.shard.compaction.CleanerLimits;
import io.journalq.server.shard.compaction.CleanerSurroundings;
import io.journalq.server.shard.compaction.LogCleaner;
import java.time.Clock;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Sets up compaction and its meters. */
final class Compaction {
    private Compaction() {}

    /**
     * A cleaner that has not begun.
     *
     * @param ids gives secrets that nobody can guess
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

    /** Clients that choose keys must not know the secret. */
    private static KeyOffsets keyOffsets(long sizeBytes, Uuid secret) {
        return new KeyOffsets(sizeBytes, secret.mostSignificantBits(), secret.leastSignificantBits());
    }

    static void bind(CleanerCounters counters, Clock clock, BrokerMetrics metrics) {
        metrics.counter("journalq.cleaner.runs", "Compactions of partitions that ended well.", counters::runs);
        metrics.counter("journalq.cleaner.failures", "Compactions of partitions that failed.", counters::failures);
        metrics.counter("journalq.cleaner.read.bytes", "Bytes that compaction went through.", counters::readBytes);
        metrics.counter(
                "journalq.cleaner.freed.bytes",
                "Bytes by which compaction made partitions smaller.",
                counters::freedBytes);
        metrics.gauge(
                "journalq.cleaner.max.dirty.percent",
                "Largest part of a compacted partition that is new since its last compaction.",
                counters::maxDirtyPercent);
        metrics.gauge(
                "journalq.cleaner.uncleanable.partitions",
                "Partitions whose compaction failed; the log says why.",
                counters::uncleanablePartitions);
        metrics.gauge(
                "journalq.cleaner.since.last.run.seconds",
                "Seconds since partitions were last looked at for compaction.",
                () -> TimeUnit.MILLISECONDS.toSeconds(clock.millis() - counters.lastRunMs()));
    }
}
