package io.journalq.server.shard.partition;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;

/**
 * One replica of a partition at one moment. Immutable.
 *
 * @param leads whether this replica leads
 * @param partitionEpoch that of the newest in-sync replicas that it knows
 * @param endOffset the end of what is written
 * @param hasEnoughReplicas whether enough replicas are in sync, as far as a leader knows
 * @param isWritable whether its files can be written
 */
public record ReplicaStatus(
        Uuid topicId,
        TopicPartition name,
        boolean leads,
        int leaderEpoch,
        int partitionEpoch,
        long startOffset,
        long endOffset,
        long highWatermark,
        boolean hasEnoughReplicas,
        boolean isWritable) {}
