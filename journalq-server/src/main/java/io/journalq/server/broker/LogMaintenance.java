package io.journalq.server.broker;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.compaction.CleanerCounters;
import io.journalq.server.shard.compaction.LogCleaner;
import io.journalq.server.shard.compaction.LogCleaner.CleanerSurroundings;
import io.journalq.server.shard.healing.DamageListener;
import io.journalq.server.shard.healing.HealingCounters;
import io.journalq.server.shard.healing.ReplicaHealer;
import io.journalq.server.shard.healing.Scrubber;

/**
 * The background work on the logs of a broker: compaction, and the search for damage and its repair. Started and closed
 * by the thread that opens and closes the broker. The counters can be read by any thread.
 */
final class LogMaintenance implements AutoCloseable {
    private final LogCleaner cleaner;
    private final ReplicaHealer healer;
    private final Scrubber scrubber;

    /**
     * Creates the parts; none is started.
     *
     * @param peers requests to other brokers; null for a broker that is alone, which only reports damage
     */
    LogMaintenance(BrokerConfig config, BrokerEnvironment environment, Shards shards, PeerRequests peers) {
        this.cleaner = CompactionSetup.of(
                config,
                shards,
                new CleanerSurroundings(environment.blockingPool(), environment.clock(), environment.waiting()),
                environment.ids());
        this.healer = new ReplicaHealer(shards, environment.blockingPool(), environment.waiting(), peers);
        this.scrubber = new Scrubber(
                shards,
                environment.blockingPool(),
                environment.waiting(),
                healer,
                config.get(BrokerSettings.SCRUB_INTERVAL_MS),
                config.get(BrokerSettings.SCRUB_BYTES_PER_SECOND));
    }

    void startCompaction() {
        cleaner.start();
    }

    void startScrubbing() {
        scrubber.start();
    }

    /** Learns of damage that reads meet. */
    DamageListener damageListener() {
        return healer;
    }

    CleanerCounters cleanerCounters() {
        return cleaner.counters();
    }

    HealingCounters healingCounters() {
        return healer.counters();
    }

    Scrubber scrubber() {
        return scrubber;
    }

    @Override
    public void close() {
        cleaner.close();
        scrubber.close();
        healer.close();
    }
}
