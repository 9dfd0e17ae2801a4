package io.journalq.client.admin;

import io.journalq.common.id.TopicPartition;
import java.util.Map;

/**
 * A data directory of a broker. Immutable.
 *
 * @param totalBytes the size of the volume in bytes, or -1 if the broker does not report it
 * @param usableBytes the usable space of the volume in bytes, or -1 if the broker does not report it
 * @param partitionSizesBytes by partition: the size of its log in this directory, in bytes
 */
public record LogDirDescription(
        int brokerId, String path, long totalBytes, long usableBytes, Map<TopicPartition, Long> partitionSizesBytes) {
    public LogDirDescription {
        partitionSizesBytes = Map.copyOf(partitionSizesBytes);
    }
}
