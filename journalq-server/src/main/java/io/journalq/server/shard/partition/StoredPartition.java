package io.journalq.server.shard.partition;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import java.nio.file.Path;

/**
 * The size and the place of a partition's files.
 *
 * @param dataDirectory the data directory that holds it
 * @param sizeBytes size of its log files
 */
public record StoredPartition(TopicPartition name, Path dataDirectory, long sizeBytes) {
    /** Name of a partition's directory. */
    public static String directoryName(Uuid topicId, int partition) {
        return topicId + "-" + partition;
    }
}
