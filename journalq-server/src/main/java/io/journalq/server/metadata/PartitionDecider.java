package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.metadata.MetadataMachine.ResourceRules;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.metadata.partition.LeaderElection;
import io.journalq.server.metadata.partition.PartitionChange;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.partition.ReassignmentSteps;
import io.journalq.server.metadata.record.PartitionChangesRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Decides on changes of single partitions: the in-sync replicas that a leader proposes, elections and recoveries, and moves
 * to other brokers. A decision changes nothing. One thread.
 */
public final class PartitionDecider {
    private final MetadataState state;
    private final ResourceRules rules;

    PartitionDecider(MetadataState state, ResourceRules rules) {
        this.state = state;
        this.rules = rules;
    }

    /**
     * Makes any live replica lead a partition that has no leader, if the topic allows that acknowledged records are lost.
     */
    public Decision electUncleanLeader(String topicName, int number) {
        TopicImage topic = state.topics().byName().find(topicName);
        if (topic == null || !topic.hasPartition(number)) {
            return Decision.refuse(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "there is no such partition");
        }
        PartitionImage partition = topic.partitions().get(number);
        if (partition.hasLeader()) {
            return Decision.refuse(ErrorCode.ELECTION_NOT_NEEDED, "broker " + partition.leader() + " leads already");
        }
        if (!"true".equals(topic.configs().get(TopicSettings.UNCLEAN_LEADER_ELECTION.name()))) {
            return Decision.refuse(
                    ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
                    "acknowledged records would be lost; to accept that, set "
                            + TopicSettings.UNCLEAN_LEADER_ELECTION.name() + "=true on the topic");
        }
        PartitionChange elected = LeaderElection.electUnclean(partition, new KnownBrokers(state.brokers(), List.of()));
        return elected.isEmpty()
                ? Decision.refuse(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, "all brokers of the replicas are fenced")
                : change(topic, number, elected);
    }

    /** Gives the leadership of a partition to its preferred leader. */
    public Decision electPreferredLeader(String topicName, int number) {
        TopicImage topic = state.topics().byName().find(topicName);
        if (topic == null || !topic.hasPartition(number)) {
            return Decision.refuse(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "there is no such partition");
        }
        PartitionImage partition = topic.partitions().get(number);
        if (partition.leader() == partition.preferredLeader()) {
            return Decision.refuse(ErrorCode.ELECTION_NOT_NEEDED, "the preferred leader leads the partition already");
        }
        PartitionChange elected = LeaderElection.electPreferred(
                partition,
                ReplicatedTopicRules.requiredInSync(topic, partition),
                new KnownBrokers(state.brokers(), List.of()));
        return elected.leader() != partition.preferredLeader()
                ? Decision.refuse(
                        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
                        "broker " + partition.preferredLeader()
                                + " is not in sync, is fenced or about to stop, or has no room on a disk")
                : change(topic, number, elected);
    }

    /**
     * A replica that can lead a partition whose last eligible replicas have all lost records.
     *
     * @param partitionEpoch of the partition when its replicas were compared
     * @param leader the replica that has most of the records
     */
    public record Recovery(Uuid topicId, int partition, int partitionEpoch, int leader) {}

    /**
     * Lets replicas lead in epochs that are marked as recovering. Partitions that have changed since their replicas were
     * compared stay as they are.
     *
     * @param compared the registrations of the brokers whose replicas were compared. A broker may have lost more since then
     */
    public Decision recover(List<Recovery> recoveries, Map<Integer, Long> compared) {
        KnownBrokers brokers = new KnownBrokers(state.brokers(), List.of());
        List<Message> records = new ArrayList<>();
        for (Recovery recovery : recoveries) {
            TopicImage topic = state.topics().byId().find(recovery.topicId());
            if (topic == null || !topic.hasPartition(recovery.partition())) {
                continue;
            }
            PartitionImage partition = topic.partitions().get(recovery.partition());
            boolean isSame = partition.partitionEpoch() == recovery.partitionEpoch()
                    && partition.replicas().stream()
                            .filter(compared::containsKey)
                            .allMatch(node -> isCurrent(node, compared.get(node)));
            if (isSame && brokers.isLive(recovery.leader()) && LeaderElection.canRecover(partition, brokers::isLive)) {
                records.addAll(change(topic, recovery.partition(), LeaderElection.recover(partition, recovery.leader()))
                        .records());
            }
        }
        return Decision.appendInParts(records);
    }

    private static Decision change(TopicImage topic, int number, PartitionChange change) {
        return change.isEmpty()
                ? Decision.append(List.of())
                : Decision.append(List.of(new PartitionChangesRecord()
                        .setTopicId(topic.id())
                        .setChanges(List.of(MetadataSnapshot.change(number, change)))));
    }

    /**
     * Changes the in-sync replicas of a partition as its leader proposes. If the leader has no room, one of them that
     * has some leads from then on.
     *
     * @param nodeId the broker that proposes
     * @param brokerEpoch its registration
     */
    public Decision alterPartition(int nodeId, long brokerEpoch, InSyncProposal proposal) {
        if (!isCurrent(nodeId, brokerEpoch)) {
            return Decision.refuseStale(nodeId, brokerEpoch);
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
        KnownBrokers brokers = new KnownBrokers(state.brokers(), List.of());
        int requiredSize = ReplicatedTopicRules.requiredInSync(topic, partition);
        PartitionChange proposed = LeaderElection.propose(partition, proposal.nodeIds(), requiredSize, brokers);
        if (brokers.hasRoom(nodeId)) {
            return change(topic, proposal.partition(), proposed);
        }
        // A replica with room can have joined, which may lead from now on.
        PartitionImage after = partition.after(proposed);
        PartitionImage elected = after.after(LeaderElection.elect(after, requiredSize, brokers));
        return change(topic, proposal.partition(), PartitionChange.between(partition, elected));
    }

    /**
     * Begins to move a partition to other brokers, or cancels such a move (KIP-455). {@link #completeReassignments} ends it.
     *
     * @param target the brokers of the replicas in the end, the preferred leader first; null to return to the replicas
     *     before the reassignment in progress
     * @param changesFactor whether there may be more or fewer of them than now
     */
    public Decision reassign(String topicName, int number, List<Integer> target, boolean changesFactor) {
        TopicImage topic = state.topics().byName().find(topicName);
        if (topic == null || !topic.hasPartition(number)) {
            return Decision.refuse(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "there is no such partition");
        }
        PartitionImage partition = topic.partitions().get(number);
        KnownBrokers brokers = new KnownBrokers(state.brokers(), List.of());
        int requiredSize = ReplicatedTopicRules.requiredInSync(topic, partition);
        if (target == null && !partition.reassignment().isInProgress()) {
            return Decision.refuse(
                    ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "no reassignment of the partition is in progress");
        }
        Decision refused = target == null ? null : problem(partition, target, changesFactor);
        if (refused != null) {
            return refused;
        }
        PartitionImage moved = target == null
                ? ReassignmentSteps.cancel(partition, requiredSize, brokers)
                : ReassignmentSteps.begin(partition, target, requiredSize, brokers);
        if (moved == null) {
            return Decision.refuse(
                    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                    "only the replicas that the reassignment in progress adds have all acknowledged records; try again"
                            + " when another one is in sync");
        }
        Decision decision = change(topic, number, PartitionChange.between(partition, moved));
        if (target == null || !needsMode(topic, partition, target)) {
            return decision;
        }
        List<Message> records = new ArrayList<>(decision.records());
        records.add(ReplicatedTopicRules.modeRecord(topic, rules.defaultMode(state.resources(), partition.leader())));
        return Decision.append(records);
    }

    /**
     * The in-sync replicas that have to be alive before {@link #reassign}, because replicas leave at once; empty if none
     * leaves that may be needed.
     *
     * @param target as there
     */
    public List<Integer> needed(String topicName, int number, List<Integer> target) {
        TopicImage topic = state.topics().byName().find(topicName);
        return topic == null || !topic.hasPartition(number)
                ? List.of()
                : ReassignmentSteps.needed(topic.partitions().get(number), target);
    }

    /**
     * A reassignment whose old replicas may leave.
     *
     * @param partitionEpoch of the partition when its in-sync replicas were confirmed
     */
    public record ConfirmedReassignment(Uuid topicId, int partition, int partitionEpoch) {}

    /** Removes the old replicas of partitions that move. Partitions that have changed meanwhile stay as they are. */
    public Decision completeReassignments(List<ConfirmedReassignment> confirmed) {
        KnownBrokers brokers = new KnownBrokers(state.brokers(), List.of());
        List<Message> records = new ArrayList<>();
        for (ConfirmedReassignment one : confirmed) {
            TopicImage topic = state.topics().byId().find(one.topicId());
            if (topic == null || !topic.hasPartition(one.partition())) {
                continue;
            }
            PartitionImage partition = topic.partitions().get(one.partition());
            if (partition.partitionEpoch() == one.partitionEpoch() && canComplete(topic, partition)) {
                PartitionImage completed =
                        ReassignmentSteps.complete(partition, requiredOfTarget(topic, partition), brokers);
                records.addAll(change(topic, one.partition(), PartitionChange.between(partition, completed))
                        .records());
            }
        }
        return Decision.appendInParts(records);
    }

    /** Whether a partition moves, and the replicas of its target can do without the others. */
    public static boolean canComplete(TopicImage topic, PartitionImage partition) {
        return partition.reassignment().isInProgress()
                && ReassignmentSteps.canComplete(partition, requiredOfTarget(topic, partition));
    }

    private static int requiredOfTarget(TopicImage topic, PartitionImage partition) {
        return ReplicatedTopicRules.requiredInSync(
                topic, partition.targetReplicas().size());
    }

    /** Whether a topic gets several replicas, at least while it moves, and sets no mode. It then keeps its default. */
    private static boolean needsMode(TopicImage topic, PartitionImage partition, List<Integer> target) {
        boolean severalAtATime = !partition.originalReplicas().equals(target)
                && (target.size() > 1 || !partition.replicas().equals(target));
        // Nobody has chosen the mode of an internal topic.
        return severalAtATime
                && !InternalTopics.contains(topic.name())
                && ReplicatedTopicRules.lacksMode(topic.configs());
    }

    private Decision problem(PartitionImage partition, List<Integer> target, boolean changesFactor) {
        String problem = new ReplicaAssignments(state.brokers()).problemOf(target, target.size());
        if (problem != null) {
            return Decision.refuse(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem);
        }
        int factor = partition.targetReplicas().size();
        if (!changesFactor && target.size() != factor) {
            return Decision.refuse(
                    ErrorCode.INVALID_REPLICATION_FACTOR,
                    "the partition has " + factor + " replicas, and the request must not change that; it names "
                            + target.size());
        }
        return null;
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
                        "broker " + member.nodeId() + " is fenced or about to stop, or has another registration than "
                                + member.brokerEpoch());
            }
        }
        return null;
    }

    /** Whether a follower may be in sync (KIP-841, KIP-903). */
    private boolean isEligible(InSyncProposal.Member member) {
        BrokerImage broker = state.brokers().find(member.nodeId());
        return broker != null
                && broker.stays()
                && (member.brokerEpoch() == InSyncProposal.UNKNOWN_EPOCH || member.brokerEpoch() == broker.epoch());
    }

    /** Whether the registration {@code epoch} of a broker is the current one. */
    private boolean isCurrent(int nodeId, long epoch) {
        BrokerImage broker = state.brokers().find(nodeId);
        return broker != null && broker.epoch() == epoch;
    }
}
