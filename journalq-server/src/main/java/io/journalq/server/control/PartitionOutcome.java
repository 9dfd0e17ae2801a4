package io.journalq.server.control;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import java.util.List;

/**
 * The result of the proposal of a partition's leader. Immutable.
 *
 * @param error {@link ErrorCode#NONE} for success. With {@link ErrorCode#NEW_LEADER_ELECTED}, the proposal has succeeded
 *     and another broker leads now
 * @param leader the leader from now on, which the following components describe as well; they are of no use with an
 *     error
 */
public record PartitionOutcome(
        ErrorCode error, int leader, int leaderEpoch, int partitionEpoch, List<Integer> inSyncReplicas) {
    public PartitionOutcome {
        inSyncReplicas = List.copyOf(inSyncReplicas);
    }

    /** The proposal has not changed the partition. */
    public static PartitionOutcome refused(ErrorCode error) {
        return new PartitionOutcome(error, PartitionImage.NO_LEADER, -1, -1, List.of());
    }

    /**
     * The outcome of an accepted proposal.
     *
     * @param nodeId the broker that has proposed
     */
    static PartitionOutcome of(int nodeId, TopicImage topic, int partition) {
        PartitionImage now = topic.partitions().get(partition);
        return new PartitionOutcome(
                now.leader() == nodeId ? ErrorCode.NONE : ErrorCode.NEW_LEADER_ELECTED,
                now.leader(),
                now.leaderEpoch(),
                now.partitionEpoch(),
                now.inSyncReplicas());
    }
}
