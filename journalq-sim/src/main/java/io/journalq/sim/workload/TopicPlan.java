package io.journalq.sim.workload;

import io.journalq.common.protocol.message.CreateTopicsRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The settings of one topic.
 *
 * @param promise what its delivery mode guarantees
 * @param cleanup how old records are removed
 * @param retentionMs age from which records may be removed, with {@link Cleanup#BY_AGE}
 * @param retentionBytes size of the later records from which records may be removed, with {@link Cleanup#BY_SIZE}
 * @param compaction settings of compaction, with {@link Cleanup#BY_KEY}
 */
public record TopicPlan(
        Promise promise,
        int segmentBytes,
        Cleanup cleanup,
        long retentionMs,
        long retentionBytes,
        CompactionPlan compaction) {
    private static final List<String> MODES =
            List.of("eventual", "consistent", "eventual", "consistent", "performance");
    private static final int LONGEST_WRITE_INTERVAL_MS = 100;
    private static final int[] SEGMENT_SIZES = {1 << 10, 2 << 10, 8 << 10, 1 << 20};
    private static final int[] SMALL_SEGMENT_SIZES = {1 << 10, 2 << 10};

    /** How old records are removed, besides DeleteRecords requests. */
    public enum Cleanup {
        NOTHING,
        BY_AGE,
        BY_SIZE,
        BY_KEY
    }

    /**
     * How a topic is compacted.
     *
     * @param minLagMs time for which records are kept at least
     * @param deleteRetentionMs time for which tombstones are kept after their first compaction
     */
    public record CompactionPlan(double minDirtyRatio, long minLagMs, long deleteRetentionMs) {}

    static TopicPlan of(Random random) {
        Cleanup[] all = Cleanup.values();
        Cleanup cleanup = random.nextBoolean() ? Cleanup.NOTHING : all[random.nextInt(all.length)];
        int[] sizes = cleanup == Cleanup.NOTHING ? SEGMENT_SIZES : SMALL_SEGMENT_SIZES;
        return new TopicPlan(
                Promise.of(random),
                sizes[random.nextInt(sizes.length)],
                cleanup,
                20 + random.nextInt(400),
                1_000 + random.nextInt(4_000),
                new CompactionPlan(
                        random.nextInt(3) * 0.25,
                        random.nextBoolean() ? 0 : random.nextInt(100),
                        random.nextBoolean() ? 0 : random.nextInt(300)));
    }

    /**
     * What the delivery mode and the settings of the topic guarantee.
     *
     * @param mode name of the delivery mode
     * @param writeIntervalMs longest time for which an acknowledged record may be only in memory; 0 if it never is
     * @param flushIntervalMs longest time until written data are fsynced
     */
    public record Promise(String mode, long writeIntervalMs, long flushIntervalMs) {
        static Promise of(Random random) {
            String mode = MODES.get(random.nextInt(MODES.size()));
            long writeIntervalMs = mode.equals("performance") ? 1 + random.nextInt(LONGEST_WRITE_INTERVAL_MS) : 0;
            return new Promise(mode, writeIntervalMs, flushInterval(random));
        }

        public boolean isConsistent() {
            return mode.equals("consistent");
        }
    }

    /** A flush interval for the mode {@code eventual}, in milliseconds. */
    public static long flushInterval(Random random) {
        return 10L + random.nextInt(300);
    }

    public boolean isCompacted() {
        return cleanup == Cleanup.BY_KEY;
    }

    List<CreateTopicsRequest.CreatableTopicConfig> configs() {
        List<CreateTopicsRequest.CreatableTopicConfig> configs = new ArrayList<>();
        add(configs, "delivery.mode", promise.mode);
        add(configs, "write.interval.ms", Math.max(1, promise.writeIntervalMs));
        add(configs, "flush.interval.ms", promise.flushIntervalMs);
        add(configs, "segment.bytes", segmentBytes);
        switch (cleanup) {
            case NOTHING -> {}
            case BY_AGE -> add(configs, "retention.ms", retentionMs);
            case BY_SIZE -> add(configs, "retention.bytes", retentionBytes);
            case BY_KEY -> {
                add(configs, "cleanup.policy", "compact");
                add(configs, "min.cleanable.dirty.ratio", compaction.minDirtyRatio);
                add(configs, "min.compaction.lag.ms", compaction.minLagMs);
                add(configs, "delete.retention.ms", compaction.deleteRetentionMs);
            }
        }
        return configs;
    }

    private static void add(List<CreateTopicsRequest.CreatableTopicConfig> configs, String name, Object value) {
        configs.add(new CreateTopicsRequest.CreatableTopicConfig().setName(name).setValue(String.valueOf(value)));
    }
}
