package io.journalq.sim;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.sim.disk.DiskFaults;
import io.journalq.sim.workload.TopicPlan;
import java.util.Random;

/**
 * What a seed determines: the settings of the broker, the faults of its disk, and its crashes.
 *
 * @param loops number of shards of the broker
 * @param consistent whether the internal topics have the delivery mode {@code consistent}
 * @param flushIntervalMs flush interval of the internal topics
 * @param longestPoolDelayMs longest time that a blocking task waits for a thread
 * @param faults faults while clients work. Starts and checks have none, unless {@code faultyStarts}
 * @param faultyStarts whether the disk also has faults while the broker starts
 * @param lives how often the broker is started
 * @param powerLossOdds a crash is a power loss with a probability of 1 / powerLossOdds; all other crashes kill the
 *     process
 */
record Scenario(
        int loops,
        boolean consistent,
        long flushIntervalMs,
        long longestPoolDelayMs,
        DiskFaults faults,
        boolean faultyStarts,
        int lives,
        int powerLossOdds) {
    private static final int[] SEGMENT_SIZES = {1 << 10, 8 << 10, 1 << 20};
    private static final int[] WRITE_AHEAD_SIZES = {8 << 10, 32 << 10, 128 << 10, 1 << 20, 0};

    static Scenario of(Random random) {
        return new Scenario(
                1 + random.nextInt(3),
                random.nextBoolean(),
                TopicPlan.flushInterval(random),
                1 + random.nextInt(20),
                faults(random),
                random.nextInt(4) == 0,
                2 + random.nextInt(4),
                1 + random.nextInt(3));
    }

    private static DiskFaults faults(Random random) {
        return switch (random.nextInt(10)) {
            case 0 -> new DiskFaults(50, 0, 0, 0, 0, 0, 0, Long.MAX_VALUE);
            case 1 -> new DiskFaults(0, 50, 0, 0, 0, 0, 0, Long.MAX_VALUE);
            case 2 -> new DiskFaults(0, 0, 50, 0, 0, 0, 0, Long.MAX_VALUE);
            case 3 -> new DiskFaults(0, 0, 0, 20, 50, 0, 0, Long.MAX_VALUE);
            case 4 -> new DiskFaults(0, 0, 0, 0, 0, 0, 0, 10_000 + random.nextInt(30_000));
            case 5 -> new DiskFaults(100, 100, 100, 50, 20, 0, 0, Long.MAX_VALUE);
            case 6 -> new DiskFaults(0, 0, 0, 0, 0, 0, 1 + random.nextInt(4), Long.MAX_VALUE);
            case 7 -> new DiskFaults(0, 0, 0, 0, 0, 100, 0, Long.MAX_VALUE);
            default -> DiskFaults.NONE;
        };
    }

    BrokerConfig config(Random random) {
        try {
            return BrokerConfig.defaults()
                    .with("data.directories", "host/data", ConfigOrigin.COMMAND_LINE)
                    .with("shards", Integer.toString(loops), ConfigOrigin.COMMAND_LINE)
                    .with("delivery.mode", mode(consistent), ConfigOrigin.COMMAND_LINE)
                    .with("flush.interval.ms", Long.toString(flushIntervalMs), ConfigOrigin.COMMAND_LINE)
                    .with("segment.bytes", Integer.toString(segmentBytes(random)), ConfigOrigin.COMMAND_LINE)
                    .with("index.interval.bytes", "1024", ConfigOrigin.COMMAND_LINE)
                    .with("decompression.inline.max.bytes", inlineMaxBytes(), ConfigOrigin.COMMAND_LINE)
                    .with("write.ahead.max.bytes", Integer.toString(writeAheadBytes(random)), ConfigOrigin.COMMAND_LINE)
                    .with("log.retention.check.interval.ms", "50", ConfigOrigin.COMMAND_LINE)
                    .with("log.cleaner.backoff.ms", "40", ConfigOrigin.COMMAND_LINE)
                    .with("log.cleaner.dedupe.buffer.size", "65536", ConfigOrigin.COMMAND_LINE)
                    .with("group.min.session.timeout.ms", "1", ConfigOrigin.COMMAND_LINE)
                    .with("group.initial.rebalance.delay.ms", "20", ConfigOrigin.COMMAND_LINE)
                    .with("group.consumer.heartbeat.interval.ms", "30", ConfigOrigin.COMMAND_LINE)
                    .with("group.consumer.session.timeout.ms", "200", ConfigOrigin.COMMAND_LINE)
                    .with("offsets.topic.num.partitions", "2", ConfigOrigin.COMMAND_LINE)
                    .with("transaction.state.log.num.partitions", "2", ConfigOrigin.COMMAND_LINE);
        } catch (ConfigException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    /** In about half of the scenarios, compressed batches are too large to be validated on a loop. */
    private String inlineMaxBytes() {
        return longestPoolDelayMs % 2 == 0 ? "1" : "1048576";
    }

    private static int segmentBytes(Random random) {
        return SEGMENT_SIZES[random.nextInt(SEGMENT_SIZES.length)];
    }

    private static int writeAheadBytes(Random random) {
        return WRITE_AHEAD_SIZES[random.nextInt(WRITE_AHEAD_SIZES.length)];
    }

    private static String mode(boolean consistent) {
        return consistent ? "consistent" : "eventual";
    }
}
