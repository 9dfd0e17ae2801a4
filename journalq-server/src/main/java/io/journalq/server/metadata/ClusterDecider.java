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
import io.journalq.server.metadata.record.BrokerChangeRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord.ChangeState;
import io.journalq.server.metadata.record.RemoveBrokerRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Decides on the brokers of a cluster, and on the leaders and in-sync replicas of its partitions. A decision changes
 * nothing. One thread.
 */
public final class ClusterDecider {
    /** Maximum for one record, so that a batch need not be larger than that. */
    private static final int CHANGES_PER_RECORD = 1_000;

    private static final Pattern NUMBER = Pattern.compile("[1-9]\\d{0,4}");

    private final MetadataState state;
    private final ResourceRules rules;

    ClusterDecider(MetadataState state, ResourceRules rules) {
        this.state = state;
        this.rules = rules;
    }

    /** Whether the registration {@code epoch} of a broker is the current one. */
    public boolean isCurrent(int nodeId, long epoch) {
        BrokerImage broker = state.brokers().find(nodeId);
        return broker != null && broker.epoch() == epoch;
    }

    /**
     * Registers a process of a broker, which is fenced.
     *
     * @param kept what the broker still has of everything that its last process had acknowledged
     */
    Decision register(BrokerImage registered, Kept kept) {
        // The new registration comes last: if only the first records are committed, the broker repeats it, and the
        // controller knows again what the broker still has.
        BrokerImage known = state.brokers().find(registered.nodeId());
        List<Message> records = leavingFirst(
                known == null ? List.of() : List.of(known), elections(new KnownBrokers(List.of(registered), kept)));
        records.add(MetadataSnapshot.brokerRecord(registered.at(state.version() + records.size())));
        return Decision.appendInParts(records);
    }

    /**
     * A fenced broker has found out that replicas have lost acknowledged records. They are not eligible as leaders any
     * more. If they were the last that were, they can lead in an epoch that is marked as recovering.
     *
     * @param partitions numbers of the partitions, by topic id
     */
    public Decision loseRecords(int nodeId, long epoch, Map<Uuid, List<Integer>> partitions) {
        BrokerImage broker = state.brokers().find(nodeId);
        if (broker == null || broker.epoch() != epoch) {
            return stale(nodeId, epoch);
        }
        KnownBrokers brokers = new KnownBrokers(List.of(broker.in(true, false)), Kept.NOTHING);
        List<Message> records = new ArrayList<>();
        partitions.forEach((topicId, numbers) -> {
            TopicImage topic = state.topics().byId().find(topicId);
            List<ChangeState> changes = new ArrayList<>();
            for (int number : numbers) {
                if (topic != null && topic.hasPartition(number)) {
                    PartitionImage partition = topic.partitions().get(number);
                    PartitionChange elected = LeaderElection.elect(partition, requiredSize(topic, partition), brokers);
                    if (partition.replicas().contains(nodeId) && !elected.isEmpty()) {
                        changes.add(MetadataSnapshot.change(number, elected));
                    }
                }
            }
            addChanges(records, topicId, changes);
        });
        return Decision.appendInParts(records);
    }

    /** What a broker still has of the records that it had acknowledged when its last process ended. */
    enum Kept {
        ALL,
        /** Everything that was on its disks. In mode consistent, that is all. */
        SYNCED,
        /** Nobody knows: the disks are others, or their contents are older. */
        NOTHING
    }

    /**
     * Fences brokers: first, they leave the in-sync replicas, and others lead what they have led. Brokers that are fenced
     * stay as they are.
     */
    public Decision fence(Collection<Integer> nodeIds) {
        List<BrokerImage> changed = new ArrayList<>();
        for (int nodeId : nodeIds) {
            BrokerImage broker = state.brokers().find(nodeId);
            if (broker != null && broker.isLive()) {
                changed.add(broker.in(true, false));
            }
        }
        return change(changed);
    }

    /**
     * Lets a broker lead partitions, first of all those that have no leader. A fenced broker leads nothing, so that it is
     * unfenced first.
     */
    public Decision unfence(int nodeId, long epoch) {
        BrokerImage broker = state.brokers().find(nodeId);
        if (broker == null || broker.epoch() != epoch) {
            return stale(nodeId, epoch);
        }
        if (broker.stays()) {
            return Decision.append(List.of());
        }
        BrokerImage unfenced = broker.in(false, false);
        List<Message> records = new ArrayList<>();
        records.add(changeRecord(unfenced));
        records.addAll(elections(new KnownBrokers(List.of(unfenced))));
        return Decision.appendInParts(records);
    }

    /**
     * Completes what an earlier controller has begun, if it has lost its term before everything was committed: fenced
     * brokers are not in sync, and every partition has a leader that can have one.
     */
    public Decision completeElections() {
        KnownBrokers brokers = new KnownBrokers(List.of());
        return Decision.appendInParts(elections(
                brokers,
                partition -> !partition.hasLeader()
                        || !partition.inSyncReplicas().stream().allMatch(brokers::isLive)));
    }

    /** A broker is about to stop: others lead what they can lead, and it leaves the in-sync replicas there. */
    public Decision leave(int nodeId, long epoch) {
        BrokerImage broker = state.brokers().find(nodeId);
        return broker == null || broker.epoch() != epoch
                ? stale(nodeId, epoch)
                : change(broker.stays() ? List.of(broker.in(false, true)) : List.of());
    }

    /** Removes a broker that does not run and has no replicas. Its id can be used again. */
    public Decision unregister(int nodeId) {
        BrokerImage broker = state.brokers().find(nodeId);
        if (broker == null) {
            return Decision.refuse(ErrorCode.BROKER_ID_NOT_REGISTERED, "there is no broker " + nodeId);
        }
        if (broker.isLive()) {
            return Decision.refuse(ErrorCode.INVALID_REQUEST, "broker " + nodeId + " is running; stop it first");
        }
        long replicas = 0;
        for (TopicImage topic : state.topics().byName()) {
            replicas += topic.partitions().stream()
                    .filter(partition -> partition.replicas().contains(nodeId))
                    .count();
        }
        return replicas == 0
                ? Decision.append(List.of(new RemoveBrokerRecord().setNodeId(nodeId)))
                : Decision.refuse(
                        ErrorCode.INVALID_REQUEST,
                        "broker " + nodeId + " has a replica of " + replicas
                                + (replicas == 1 ? " partition" : " partitions")
                                + "; move them to other brokers first (bin/journalq cluster drain " + nodeId + ")");
    }

    private static Decision stale(int nodeId, long epoch) {
        return Decision.refuse(
                ErrorCode.STALE_BROKER_EPOCH, "broker " + nodeId + " has another registration than " + epoch);
    }

    /** Takes leaderships from brokers. Those that are fenced then lead nothing any more. */
    private Decision change(List<BrokerImage> changed) {
        if (changed.isEmpty()) {
            return Decision.append(List.of());
        }
        List<Message> records = leavingFirst(changed, elections(new KnownBrokers(changed)));
        changed.forEach(broker -> records.add(changeRecord(broker)));
        return Decision.appendInParts(records);
    }

    /**
     * Elections that take several batches, behind records that mark the brokers as leaving. Otherwise, the leaders that
     * know the first batch would propose the brokers as in-sync replicas again.
     */
    private List<Message> leavingFirst(List<BrokerImage> brokers, List<Message> elections) {
        int changes = elections.stream()
                .mapToInt(record -> ((PartitionChangesRecord) record).changes().size())
                .sum();
        List<Message> records = new ArrayList<>();
        for (BrokerImage broker : brokers) {
            BrokerImage known = state.brokers().find(broker.nodeId());
            if (changes > CHANGES_PER_RECORD && known.stays()) {
                records.add(changeRecord(known.in(false, true)));
            }
        }
        records.addAll(elections);
        return records;
    }

    private static BrokerChangeRecord changeRecord(BrokerImage broker) {
        return new BrokerChangeRecord()
                .setNodeId(broker.nodeId())
                .setEpoch(broker.epoch())
                .setFenced(broker.fenced())
                .setLeaving(broker.leaving());
    }

    /** What changes in the partitions that have a replica on one of the changed brokers. */
    private List<Message> elections(KnownBrokers brokers) {
        return elections(brokers, brokers::changesAny);
    }

    private List<Message> elections(KnownBrokers brokers, Predicate<PartitionImage> concerned) {
        List<Message> records = new ArrayList<>();
        for (TopicImage topic : state.topics().byName()) {
            List<ChangeState> changes = new ArrayList<>();
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                if (concerned.test(partition)) {
                    KnownBrokers known = brokers.of(topic);
                    PartitionChange elected = settled(
                            topic,
                            partition,
                            LeaderElection.elect(partition, requiredSize(topic, partition), known),
                            known);
                    if (!elected.isEmpty()) {
                        changes.add(MetadataSnapshot.change(number, elected));
                    }
                }
            }
            addChanges(records, topic.id(), changes);
        }
        return records;
    }

    private static void addChanges(List<Message> records, Uuid topicId, List<ChangeState> changes) {
        for (int first = 0; first < changes.size(); first += CHANGES_PER_RECORD) {
            List<ChangeState> part = changes.subList(first, Math.min(changes.size(), first + CHANGES_PER_RECORD));
            records.add(new PartitionChangesRecord().setTopicId(topicId).setChanges(part));
        }
    }

    /** The brokers of the state, with those that a decision changes. */
    private final class KnownBrokers implements LeaderElection.Brokers {
        private final Map<Integer, BrokerImage> changed = new TreeMap<>();
        /** What the changed brokers still have. */
        private final Kept kept;

        KnownBrokers(List<BrokerImage> changed) {
            this(changed, Kept.ALL);
        }

        KnownBrokers(Collection<BrokerImage> changed, Kept kept) {
            this.kept = kept;
            changed.forEach(broker -> this.changed.put(broker.nodeId(), broker));
        }

        /** The brokers as replicas of a topic. */
        KnownBrokers of(TopicImage topic) {
            return kept == Kept.SYNCED && ReplicatedTopicRules.isConsistent(topic.configs())
                    ? new KnownBrokers(changed.values(), Kept.ALL)
                    : this;
        }

        /** Whether one of the replicas is on a changed broker. Called for every partition of the cluster. */
        boolean changesAny(PartitionImage partition) {
            List<Integer> replicas = partition.replicas();
            for (int index = 0; index < replicas.size(); index++) {
                if (changed.containsKey(replicas.get(index))) {
                    return true;
                }
            }
            return false;
        }

        private BrokerImage find(int nodeId) {
            BrokerImage broker = changed.get(nodeId);
            return broker == null ? state.brokers().find(nodeId) : broker;
        }

        @Override
        public boolean isLive(int nodeId) {
            BrokerImage broker = find(nodeId);
            return broker != null && broker.isLive();
        }

        @Override
        public boolean stays(int nodeId) {
            BrokerImage broker = find(nodeId);
            return broker != null && broker.stays();
        }

        @Override
        public boolean keepsRecords(int nodeId) {
            return kept == Kept.ALL || !changed.containsKey(nodeId);
        }
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
        PartitionChange elected = LeaderElection.electUnclean(partition, new KnownBrokers(List.of()));
        return elected.isEmpty()
                ? Decision.refuse(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, "all brokers of the replicas are fenced")
                : change(topic, number, elected);
    }

    /**
     * Gives partitions back to their preferred leaders, for brokers that do not lead more than {@code tolerancePercent} of
     * the partitions that prefer them. Ends reassignments that can end.
     */
    public Decision balanceLeaders(int tolerancePercent) {
        Map<Integer, int[]> preferred = new TreeMap<>();
        for (TopicImage topic : state.topics().byName()) {
            for (PartitionImage partition : topic.partitions()) {
                int[] counts = preferred.computeIfAbsent(partition.preferredLeader(), none -> new int[2]);
                counts[0]++;
                counts[1] += partition.leader() == partition.preferredLeader() ? 0 : 1;
            }
        }
        KnownBrokers brokers = new KnownBrokers(List.of());
        List<Message> records = new ArrayList<>();
        for (TopicImage topic : state.topics().byName()) {
            List<ChangeState> changes = new ArrayList<>();
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                int[] counts = preferred.get(partition.preferredLeader());
                boolean moves = counts[1] * 100L > counts[0] * (long) tolerancePercent
                        && partition.leader() != partition.preferredLeader();
                // The settings of the topic may have changed, so that a reassignment can end.
                PartitionChange elected = settled(
                        topic,
                        partition,
                        moves
                                ? LeaderElection.electPreferred(partition, requiredSize(topic, partition), brokers)
                                : PartitionChange.NONE,
                        brokers);
                if (!elected.isEmpty()) {
                    changes.add(MetadataSnapshot.change(number, elected));
                }
            }
            addChanges(records, topic.id(), changes);
        }
        return Decision.appendInParts(records);
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
        PartitionChange elected =
                LeaderElection.electPreferred(partition, requiredSize(topic, partition), new KnownBrokers(List.of()));
        return elected.leader() != partition.preferredLeader()
                ? Decision.refuse(
                        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
                        "broker " + partition.preferredLeader() + " is not in sync, or is fenced or about to stop")
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
        KnownBrokers brokers = new KnownBrokers(List.of());
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
     * Changes the in-sync replicas of a partition as its leader proposes.
     *
     * @param nodeId the broker that proposes
     * @param brokerEpoch its registration
     */
    public Decision alterPartition(int nodeId, long brokerEpoch, InSyncProposal proposal) {
        if (!isCurrent(nodeId, brokerEpoch)) {
            return stale(nodeId, brokerEpoch);
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
        KnownBrokers brokers = new KnownBrokers(List.of());
        return change(
                topic,
                proposal.partition(),
                settled(
                        topic,
                        partition,
                        LeaderElection.propose(partition, proposal.nodeIds(), requiredSize, brokers),
                        brokers));
    }

    /** A change, and the end of the reassignment if that is possible then. */
    private static PartitionChange settled(
            TopicImage topic, PartitionImage partition, PartitionChange change, LeaderElection.Brokers brokers) {
        PartitionImage changed = change.isEmpty() ? partition : partition.after(change);
        if (!changed.reassignment().isInProgress()) {
            return change;
        }
        PartitionImage settled = ReassignmentSteps.complete(
                changed, requiredSize(topic, changed.targetReplicas().size()), brokers);
        return settled.equals(changed) ? change : PartitionChange.between(partition, settled);
    }

    /**
     * Moves a partition to other brokers, or cancels such a move (KIP-455).
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
        KnownBrokers brokers = new KnownBrokers(List.of());
        int requiredSize = requiredSize(topic, partition);
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
        PartitionImage settled = ReassignmentSteps.complete(
                moved, requiredSize(topic, moved.targetReplicas().size()), brokers);
        Decision decision = change(topic, number, PartitionChange.between(partition, settled));
        if (target == null || !needsMode(topic, partition, target)) {
            return decision;
        }
        List<Message> records = new ArrayList<>(decision.records());
        records.add(ReplicatedTopicRules.modeRecord(topic, rules.defaultMode(state.resources(), partition.leader())));
        return Decision.append(records);
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

    /**
     * Number of in-sync replicas without which nothing is acknowledged, at least. A smaller number than the leader
     * requires is safe: then fewer nodes are eligible. Replicas that a reassignment adds do not count.
     */
    private static int requiredSize(TopicImage topic, PartitionImage partition) {
        return requiredSize(topic, partition.originalReplicas().size());
    }

    private static int requiredSize(TopicImage topic, int replicas) {
        String text = topic.configs().get(TopicSettings.MIN_INSYNC_REPLICAS.name());
        int minInSync = text == null || !NUMBER.matcher(text).matches() ? 1 : Integer.parseInt(text);
        return ReplicatedTopicRules.requiredInSync(
                minInSync, replicas, ReplicatedTopicRules.isConsistent(topic.configs()));
    }
}
