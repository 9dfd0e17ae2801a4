package io.journalq.cli.group;

import io.journalq.client.Consumer;
import io.journalq.common.id.TopicPartition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Reads the timestamp of the next message of partitions. Stateless; runs on the calling thread. */
final class NextTimestamps {
    private static final long MAX_NS = TimeUnit.SECONDS.toNanos(10);
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(200);
    private static final int PARTITION_MAX_BYTES = 16 * 1024;

    private NextTimestamps() {}

    /** Configures a consumer to fetch only as much as is needed to see one message of a partition. */
    static Consumer.Builder forPeeking(Consumer.Builder builder) {
        return builder.partitionMaxBytes(PARTITION_MAX_BYTES);
    }

    /**
     * Returns the timestamps of the first messages at or after these offsets, in milliseconds since 1970 UTC.
     * Partitions from which no message could be read in time are left out; they may contain only transaction markers.
     */
    static Map<TopicPartition, Long> read(Consumer consumer, Map<TopicPartition, Long> offsets) {
        Map<TopicPartition, Long> timestampsMs = new HashMap<>();
        consumer.assign(offsets.keySet());
        Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(offsets.keySet());
        offsets.forEach((partition, offset) -> consumer.seek(partition, Math.max(offset, beginnings.get(partition))));
        Map<TopicPartition, Long> ends = consumer.endOffsets(offsets.keySet());
        List<TopicPartition> open = new ArrayList<>(offsets.keySet());
        long startNs = System.nanoTime();
        while (!open.isEmpty() && System.nanoTime() - startNs < MAX_NS) {
            consumer.poll(POLL_TIMEOUT)
                    .visit((topic, partition, record) ->
                            timestampsMs.putIfAbsent(new TopicPartition(topic, partition), record.timestampMs()));
            boolean done = open.removeIf(partition ->
                    timestampsMs.containsKey(partition) || consumer.position(partition) >= ends.get(partition));
            if (done && !open.isEmpty()) {
                consumer.assign(open);
            }
        }
        return timestampsMs;
    }
}
