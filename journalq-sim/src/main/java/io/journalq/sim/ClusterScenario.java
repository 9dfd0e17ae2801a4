package io.journalq.sim;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.sim.world.SimQuorum;
import io.journalq.sim.world.SimWorld;
import java.nio.file.Path;
import java.util.Random;

/**
 * What a seed determines about a cluster.
 *
 * @param world its brokers
 * @param quorum the faults of the quorum that keeps its metadata
 * @param topics number of topics that are created
 * @param flushIntervalMs flush interval of topics in delivery mode {@code eventual}
 * @param durationMs how long there are faults
 * @param longestCalmMs longest time between two faults
 * @param replicates whether most topics have several replicas
 * @param losesPower whether machines lose power; otherwise, brokers are only killed
 * @param damages whether bits of closed segments change, each on one replica
 */
record ClusterScenario(
        SimWorld.Plan world,
        SimQuorum.Odds quorum,
        int topics,
        long flushIntervalMs,
        int durationMs,
        int longestCalmMs,
        boolean replicates,
        boolean losesPower,
        boolean damages) {
    /** The data directory of each broker. */
    static final Path DATA = Path.of("host/data");

    private static final long[] FLUSH_INTERVALS_MS = {50, 200, 1_000};
    private static final int[] SEGMENT_SIZES = {1 << 10, 8 << 10, 1 << 20};
    private static final int REPLICA_LAG_MS = 500;
    /** Each seed has few groups and transactional ids. */
    private static final String COORDINATOR_PARTITIONS = "2";

    /** How long only a leader may have what it has acknowledged. */
    static final int REPLICATION_LAG_MS = 200;

    private static final int HEARTBEAT_MS = 100;
    private static final int[] SESSION_TIMEOUTS_MS = {300, 800, 3_000};
    private static final int SHUTDOWN_TIMEOUT_MS = 2_000;
    private static final int HOUR_MS = 3_600_000;

    static ClusterScenario of(int brokers, Random random) {
        int loops = 1 + random.nextInt(2);
        long flushIntervalMs = FLUSH_INTERVALS_MS[random.nextInt(FLUSH_INTERVALS_MS.length)];
        int segmentBytes = SEGMENT_SIZES[random.nextInt(SEGMENT_SIZES.length)];
        int writeAheadBytes = random.nextInt(3) == 0 ? 0 : 128 << 10;
        int sessionTimeoutMs = SESSION_TIMEOUTS_MS[random.nextInt(SESSION_TIMEOUTS_MS.length)];
        int longestPoolDelayMs = 1 + random.nextInt(10);
        int largestSkewMs = random.nextInt(3) == 0 ? HOUR_MS : 50;
        int largestDriftPpm = random.nextInt(3) == 0 ? 50_000 : 100;
        SimQuorum.Odds quorum = new SimQuorum.Odds(
                oneIn(random, 100), oneIn(random, 10), oneIn(random, 5), oneIn(random, 10), oneIn(random, 10));
        int topics = 1 + random.nextInt(8);
        int durationMs = 1_000 + random.nextInt(4_000);
        int longestCalmMs = 50 + random.nextInt(500);
        boolean replicates = random.nextInt(3) > 0;
        boolean losesPower = random.nextInt(4) > 0;
        // A power loss could take the records from the only replica that can heal another one.
        boolean damages = replicates && !losesPower;
        String scrubMs = damages ? "500" : "0";
        SimWorld.Plan world = new SimWorld.Plan(
                brokers,
                loops,
                longestPoolDelayMs,
                largestSkewMs,
                largestDriftPpm,
                id -> config(id, loops, flushIntervalMs, segmentBytes, writeAheadBytes, sessionTimeoutMs, scrubMs));
        return new ClusterScenario(
                world, quorum, topics, flushIntervalMs, durationMs, longestCalmMs, replicates, losesPower, damages);
    }

    /** Whether brokers have write-ahead files. */
    boolean writesAhead() {
        return world.config().apply(1).get(BrokerSettings.WRITE_AHEAD_MAX_BYTES) > 0;
    }

    private static int oneIn(Random random, int odds) {
        return random.nextInt(3) == 0 ? 0 : odds;
    }

    private static BrokerConfig config(
            int id,
            int loops,
            long flushIntervalMs,
            int segmentBytes,
            int writeAheadBytes,
            int sessionTimeoutMs,
            String scrubMs) {
        try {
            return BrokerConfig.defaults()
                    .with("node.id", Integer.toString(id), ConfigOrigin.COMMAND_LINE)
                    .with("listeners", "PLAINTEXT://broker" + id + ":9092", ConfigOrigin.COMMAND_LINE)
                    .with("data.directories", DATA.toString(), ConfigOrigin.COMMAND_LINE)
                    .with("shards", Integer.toString(loops), ConfigOrigin.COMMAND_LINE)
                    .with("flush.interval.ms", Long.toString(flushIntervalMs), ConfigOrigin.COMMAND_LINE)
                    .with("segment.bytes", Integer.toString(segmentBytes), ConfigOrigin.COMMAND_LINE)
                    .with("offsets.topic.num.partitions", COORDINATOR_PARTITIONS, ConfigOrigin.COMMAND_LINE)
                    .with("transaction.state.log.num.partitions", COORDINATOR_PARTITIONS, ConfigOrigin.COMMAND_LINE)
                    .with("replica.lag.time.max.ms", Integer.toString(REPLICA_LAG_MS), ConfigOrigin.COMMAND_LINE)
                    .with("replication.lag.max.ms", Integer.toString(REPLICATION_LAG_MS), ConfigOrigin.COMMAND_LINE)
                    .with("broker.heartbeat.interval.ms", Integer.toString(HEARTBEAT_MS), ConfigOrigin.COMMAND_LINE)
                    .with("broker.session.timeout.ms", Integer.toString(sessionTimeoutMs), ConfigOrigin.COMMAND_LINE)
                    .with("scrub.interval.ms", scrubMs, ConfigOrigin.COMMAND_LINE)
                    .with("shutdown.timeout.ms", Integer.toString(SHUTDOWN_TIMEOUT_MS), ConfigOrigin.COMMAND_LINE)
                    .with("write.ahead.max.bytes", Integer.toString(writeAheadBytes), ConfigOrigin.COMMAND_LINE)
                    .with("auto.create.topics.enable", "false", ConfigOrigin.COMMAND_LINE);
        } catch (ConfigException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    /**
     * Smallest number of replicas to which partitions are moved. A partition that moved to a damaged replica alone, before
     * anybody has read the damaged batch, could not be healed.
     */
    int leastReplicas() {
        return damages ? 2 : 1;
    }

    @Override
    public String toString() {
        return world.brokers() + " brokers with " + world.loops() + " loops, clocks wrong by up to "
                + world.largestSkewMs() + " ms and " + world.largestDriftPpm() + " ppm, " + quorum + ", flush interval "
                + flushIntervalMs + " ms, faults for " + durationMs + " ms" + (replicates ? ", replicated topics" : "")
                + (losesPower ? ", power losses" : "") + (damages ? ", damage" : "");
    }
}
