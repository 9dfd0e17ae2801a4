package io.journalq.server.shard.partition;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import java.nio.file.Path;

/**
 * The disk usage of a partition.
 *
 * @param dataDirectory the data directory that contains it
 * @param sizeBytes size of its log files
 */
public record StoredPartition(TopicPartition name, Path dataDirectory, long sizeBytes) {
    /** Name of a partition's directory. */
    public static String directoryName(Uuid topicId, int partition) {
        return topicId + "-" + partition;
    }
}
