package io.journalq.sim.workload;

import io.journalq.common.protocol.message.CreateTopicsRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The settings of one topic.
 *
 * @param promise of its delivery mode
 * @param cleanup what takes old records away
 * @param retentionMs records may go when they are older; with {@link Cleanup#BY_AGE}
 * @param retentionBytes records may go while the rest holds this much; with {@link Cleanup#BY_SIZE}
 * @param compaction with {@link Cleanup#BY_KEY}
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

    /** What takes old records away, besides those who ask for it. */
    public enum Cleanup {
        NOTHING,
        BY_AGE,
        BY_SIZE,
        BY_KEY
    }

    /**
     * How a topic is compacted.
     *
     * @param minLagMs records stay at least this long
     * @param deleteRetentionMs tombstones stay this long after they were first compacted
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
     * What the topic's delivery mode and settings promise.
     *
     * @param mode its name
     * @param writeIntervalMs how long something acknowledged may be in memory only; 0 where it never is
     * @param flushIntervalMs how long something written may not be synced
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

    /** When a broker syncs in mode eventual, in milliseconds. */
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
