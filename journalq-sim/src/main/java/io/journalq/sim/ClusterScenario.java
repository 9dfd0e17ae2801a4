package io.journalq.sim;

import io.journalq.server.config.BrokerConfig;
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
 */
record ClusterScenario(
        SimWorld.Plan world,
        SimQuorum.Odds quorum,
        int topics,
        long flushIntervalMs,
        int durationMs,
        int longestCalmMs,
        boolean replicates,
        boolean losesPower) {
    /** The data directory of each broker. */
    static final Path DATA = Path.of("host/data");

    private static final long[] FLUSH_INTERVALS_MS = {50, 200, 1_000};
    private static final int[] SEGMENT_SIZES = {1 << 10, 8 << 10, 1 << 20};
    private static final int REPLICA_LAG_MS = 500;
    /** Each seed has few groups. */
    private static final String GROUP_PARTITIONS = "2";

    /** How long only a leader may have what it has acknowledged. */
    static final int REPLICATION_LAG_MS = 200;

    private static final int HEARTBEAT_MS = 100;
    private static final int[] SESSION_TIMEOUTS_MS = {300, 800, 3_000};
    private static final int HOUR_MS = 3_600_000;

    static ClusterScenario of(int brokers, Random random) {
        int loops = 1 + random.nextInt(2);
        long flushIntervalMs = FLUSH_INTERVALS_MS[random.nextInt(FLUSH_INTERVALS_MS.length)];
        int segmentBytes = SEGMENT_SIZES[random.nextInt(SEGMENT_SIZES.length)];
        int writeAheadBytes = random.nextInt(3) == 0 ? 0 : 128 << 10;
        int sessionTimeoutMs = SESSION_TIMEOUTS_MS[random.nextInt(SESSION_TIMEOUTS_MS.length)];
        SimWorld.Plan world = new SimWorld.Plan(
                brokers,
                loops,
                1 + random.nextInt(10),
                random.nextInt(3) == 0 ? HOUR_MS : 50,
                random.nextInt(3) == 0 ? 50_000 : 100,
                id -> config(id, loops, flushIntervalMs, segmentBytes, writeAheadBytes, sessionTimeoutMs));
        SimQuorum.Odds quorum = new SimQuorum.Odds(
                oneIn(random, 100), oneIn(random, 10), oneIn(random, 5), oneIn(random, 10), oneIn(random, 10));
        return new ClusterScenario(
                world,
                quorum,
                1 + random.nextInt(8),
                flushIntervalMs,
                1_000 + random.nextInt(4_000),
                50 + random.nextInt(500),
                random.nextInt(3) > 0,
                random.nextInt(4) > 0);
    }

    private static int oneIn(Random random, int odds) {
        return random.nextInt(3) == 0 ? 0 : odds;
    }

    private static BrokerConfig config(
            int id, int loops, long flushIntervalMs, int segmentBytes, int writeAheadBytes, int sessionTimeoutMs) {
        try {
            return BrokerConfig.defaults()
                    .with("node.id", Integer.toString(id), ConfigOrigin.COMMAND_LINE)
                    .with("listeners", "PLAINTEXT://broker" + id + ":9092", ConfigOrigin.COMMAND_LINE)
                    .with("data.directories", DATA.toString(), ConfigOrigin.COMMAND_LINE)
                    .with("shards", Integer.toString(loops), ConfigOrigin.COMMAND_LINE)
                    .with("flush.interval.ms", Long.toString(flushIntervalMs), ConfigOrigin.COMMAND_LINE)
                    .with("segment.bytes", Integer.toString(segmentBytes), ConfigOrigin.COMMAND_LINE)
                    .with("offsets.topic.num.partitions", GROUP_PARTITIONS, ConfigOrigin.COMMAND_LINE)
                    .with("replica.lag.time.max.ms", Integer.toString(REPLICA_LAG_MS), ConfigOrigin.COMMAND_LINE)
                    .with("replication.lag.max.ms", Integer.toString(REPLICATION_LAG_MS), ConfigOrigin.COMMAND_LINE)
                    .with("broker.heartbeat.interval.ms", Integer.toString(HEARTBEAT_MS), ConfigOrigin.COMMAND_LINE)
                    .with("broker.session.timeout.ms", Integer.toString(sessionTimeoutMs), ConfigOrigin.COMMAND_LINE)
                    .with("write.ahead.max.bytes", Integer.toString(writeAheadBytes), ConfigOrigin.COMMAND_LINE)
                    .with("auto.create.topics.enable", "false", ConfigOrigin.COMMAND_LINE);
        } catch (ConfigException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    @Override
    public String toString() {
        return world.brokers() + " brokers with " + world.loops() + " loops, clocks wrong by up to "
                + world.largestSkewMs() + " ms and " + world.largestDriftPpm() + " ppm, " + quorum + ", flush interval "
                + flushIntervalMs + " ms, faults for " + durationMs + " ms" + (replicates ? ", replicated topics" : "")
                + (losesPower ? ", power losses" : "");
    }
}
