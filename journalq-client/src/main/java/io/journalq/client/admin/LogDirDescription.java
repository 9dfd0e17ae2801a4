package io.journalq.client.admin;

import io.journalq.common.id.TopicPartition;
import java.util.Map;

/**
 * One data directory of a broker. Immutable.
 *
 * @param totalBytes of the volume; -1 when the broker does not tell
 * @param usableBytes of the volume; -1 when the broker does not tell
 * @param partitionSizesBytes what each partition's journal takes there
 */
public record LogDirDescription(
        int brokerId, String path, long totalBytes, long usableBytes, Map<TopicPartition, Long> partitionSizesBytes) {
    public LogDirDescription {
        partitionSizesBytes = Map.copyOf(partitionSizesBytes);
    }
}
