package io.journalq.server.shard;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import java.nio.file.Path;

/**
 * What a partition occupies.
 *
 * @param dataDirectory the data folder that it lies in
 * @param sizeBytes size of its log files
 */
public record StoredPartition(TopicPartition name, Path dataDirectory, long sizeBytes) {
    /** Name of the directory that a partition lies in. */
    public static String directoryName(Uuid topicId, int partition) {
        return topicId + "-" + partition;
    }
}
