package io.journalq.server.metadata;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.metadata.MetadataMachine.Decision;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.metadata.partition.LeaderElection;
import io.journalq.server.metadata.partition.PartitionChange;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.record.PartitionChangesRecord;
import java.util.List;
import java.util.TreeSet;

/**
 * Decides on the brokers of a cluster, and on the leaders and in-sync replicas of its partitions. A decision changes
 * nothing. One thread.
 */
public final class ClusterDecider {
    private final MetadataState state;

    ClusterDecider(MetadataState state) {
        this.state = state;
    }

    /** Whether the registration {@code epoch} of a broker is the current one. */
    public boolean isCurrent(int nodeId, long epoch) {
        BrokerImage broker = state.brokers().find(nodeId);
        return broker != null && broker.epoch() == epoch;
    }

    /**
     * Changes the in-sync replicas of a partition as its leader proposes.
     *
     * @param nodeId the broker that proposes
     * @param brokerEpoch its registration
     */
    public Decision alterPartition(int nodeId, long brokerEpoch, InSyncProposal proposal) {
        if (!isCurrent(nodeId, brokerEpoch)) {
            return Decision.refuse(
                    ErrorCode.STALE_BROKER_EPOCH, "broker " + nodeId + " has another registration than " + brokerEpoch);
        }
        TopicImage topic = state.topics().byId().find(proposal.topicId());
        if (topic == null) {
            return Decision.refuse(ErrorCode.UNKNOWN_TOPIC_ID, "there is no topic with this id");
        }
        if (!topic.hasPartition(proposal.partition())) {
            return Decision.refuse(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "there is no such partition");
        }
        PartitionImage partition = topic.partitions().get(proposal.partition());
        Decision refused = problem(nodeId, partition, proposal);
        if (refused != null) {
            return refused;
        }
        int requiredSize = requiredSize(topic, partition);
        PartitionChange proposed = LeaderElection.propose(partition, proposal.nodeIds(), requiredSize);
        return proposed.isEmpty()
                ? Decision.append(List.of())
                : Decision.append(List.of(new PartitionChangesRecord()
                        .setTopicId(topic.id())
                        .setChanges(List.of(MetadataSnapshot.change(proposal.partition(), proposed)))));
    }

    private Decision problem(int nodeId, PartitionImage partition, InSyncProposal proposal) {
        if (proposal.leaderEpoch() > partition.leaderEpoch()
                || proposal.partitionEpoch() > partition.partitionEpoch()) {
            return Decision.refuse(
                    ErrorCode.NOT_CONTROLLER, "the leader knows newer metadata than this controller (KAFKA-14154)");
        }
        if (proposal.leaderEpoch() < partition.leaderEpoch()) {
            return Decision.refuse(
                    ErrorCode.FENCED_LEADER_EPOCH, "the leader epoch is " + partition.leaderEpoch() + " now");
        }
        if (partition.leader() != nodeId) {
            return Decision.refuse(ErrorCode.INVALID_REQUEST, "broker " + nodeId + " does not lead the partition");
        }
        if (proposal.partitionEpoch() < partition.partitionEpoch()) {
            return Decision.refuse(
                    ErrorCode.INVALID_UPDATE_VERSION, "the partition epoch is " + partition.partitionEpoch() + " now");
        }
        List<Integer> proposed = proposal.nodeIds();
        if (new TreeSet<>(proposed).size() != proposed.size()
                || !partition.replicas().containsAll(proposed)
                || !proposed.contains(nodeId)) {
            return Decision.refuse(
                    ErrorCode.INVALID_REQUEST, "the in-sync replicas must be replicas, and include the leader");
        }
        for (InSyncProposal.Member member : proposal.inSyncReplicas()) {
            if (member.nodeId() != nodeId && !isEligible(member)) {
                return Decision.refuse(
                        ErrorCode.INELIGIBLE_REPLICA,
                        "broker " + member.nodeId() + " is fenced, or has another registration than "
                                + member.brokerEpoch());
            }
        }
        return null;
    }

    /** Whether a follower may be in sync (KIP-841, KIP-903). */
    private boolean isEligible(InSyncProposal.Member member) {
        BrokerImage broker = state.brokers().find(member.nodeId());
        return broker != null
                && broker.isLive()
                && (member.brokerEpoch() == InSyncProposal.UNKNOWN_EPOCH || member.brokerEpoch() == broker.epoch());
    }

    /**
     * Number of in-sync replicas without which nothing is acknowledged, at least. A smaller number than the leader
     * requires is safe: then fewer nodes are eligible.
     */
    private static int requiredSize(TopicImage topic, PartitionImage partition) {
        String text = topic.configs().get(TopicSettings.MIN_INSYNC_REPLICAS.name());
        return text == null || !text.matches("[1-9]\\d{0,4}")
                ? 1
                : Math.min(Integer.parseInt(text), partition.replicas().size());
    }
}
