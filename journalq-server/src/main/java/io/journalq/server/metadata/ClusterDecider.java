package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import io.journalq.server.metadata.partition.LeaderElection;
import io.journalq.server.metadata.partition.PartitionChange;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.record.BrokerChangeRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord.ChangeState;
import io.journalq.server.metadata.record.RemoveBrokerRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Decides on the brokers of a cluster, and on the leaders of all partitions that this concerns. A decision changes nothing.
 * One thread.
 */
public final class ClusterDecider {
    /** Maximum for one record, so that a batch need not be larger than that. */
    private static final int CHANGES_PER_RECORD = 1_000;

    private final MetadataState state;

    ClusterDecider(MetadataState state) {
        this.state = state;
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
                known == null ? List.of() : List.of(known),
                elections(new KnownBrokers(state.brokers(), List.of(registered), kept)));
        records.add(MetadataSnapshot.brokerRecord(registered.at(state.version() + records.size())));
        return Decision.appendInParts(records);
    }

    /**
     * A broker has found out that replicas have lost acknowledged records, or that their files cannot be used any more.
     * They are not eligible as leaders any more. If they were the last that were, they can lead in an epoch that is marked
     * as recovering. A live broker goes on to lead what nobody else can lead: consumers may still read there.
     *
     * @param partitions numbers of the partitions, by topic id
     */
    public Decision loseRecords(int nodeId, long epoch, Map<Uuid, List<Integer>> partitions) {
        BrokerImage broker = state.brokers().find(nodeId);
        if (broker == null || broker.epoch() != epoch) {
            return Decision.refuseStale(nodeId, epoch);
        }
        KnownBrokers brokers = new KnownBrokers(state.brokers(), List.of(broker.in(true, false)), Kept.NOTHING);
        List<Message> records = new ArrayList<>();
        partitions.forEach((topicId, numbers) -> {
            TopicImage topic = state.topics().byId().find(topicId);
            List<ChangeState> changes = new ArrayList<>();
            for (int number : numbers) {
                if (topic != null && topic.hasPartition(number)) {
                    PartitionImage partition = topic.partitions().get(number);
                    PartitionChange elected = LeaderElection.elect(
                            partition, ReplicatedTopicRules.requiredInSync(topic, partition), brokers);
                    boolean loses = elected.leader() == PartitionImage.NO_LEADER && broker.isLive();
                    if (partition.replicas().contains(nodeId) && !elected.isEmpty() && !loses) {
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
            return Decision.refuseStale(nodeId, epoch);
        }
        if (broker.stays()) {
            return Decision.append(List.of());
        }
        BrokerImage unfenced = broker.in(false, false);
        List<Message> records = new ArrayList<>();
        records.add(changeRecord(unfenced));
        records.addAll(elections(new KnownBrokers(state.brokers(), List.of(unfenced))));
        return Decision.appendInParts(records);
    }

    /**
     * Completes what an earlier controller has begun, if it has lost its term before everything was committed: fenced
     * brokers are not in sync, every partition has a leader that can have one, and one with room if that is possible.
     */
    public Decision completeElections() {
        KnownBrokers brokers = new KnownBrokers(state.brokers(), List.of());
        return Decision.appendInParts(elections(
                brokers,
                partition -> !brokers.hasRoom(partition.leader())
                        || !partition.inSyncReplicas().stream().allMatch(brokers::isLive)));
    }

    /** A broker is about to stop: others lead what they can lead, and it leaves the in-sync replicas there. */
    public Decision leave(int nodeId, long epoch) {
        BrokerImage broker = state.brokers().find(nodeId);
        return broker == null || broker.epoch() != epoch
                ? Decision.refuseStale(nodeId, epoch)
                : change(broker.stays() ? List.of(broker.in(false, true)) : List.of());
    }

    /**
     * A data directory of a broker has no room, or all have room again. Others lead what they can lead, as long as they
     * have room themselves. The broker stays in sync: it has everything up to now, and can have room again soon.
     */
    public Decision setFull(int nodeId, long epoch, boolean full) {
        BrokerImage broker = state.brokers().find(nodeId);
        if (broker == null || broker.epoch() != epoch) {
            return Decision.refuseStale(nodeId, epoch);
        }
        if (broker.full() == full) {
            return Decision.append(List.of());
        }
        BrokerImage changed = broker.withFull(full);
        // The broker first: the next controller completes the elections that are not committed.
        List<Message> records = new ArrayList<>();
        records.add(changeRecord(changed));
        records.addAll(elections(new KnownBrokers(state.brokers(), List.of(changed))));
        return Decision.appendInParts(records);
    }

    /** Removes a broker that does not run and has no replicas, with its settings. Its id can be used again. */
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
                ? Decision.append(removal(nodeId))
                : Decision.refuse(
                        ErrorCode.INVALID_REQUEST,
                        "broker " + nodeId + " has a replica of " + replicas
                                + (replicas == 1 ? " partition" : " partitions")
                                + "; move them to other brokers first (bin/journalq cluster drain " + nodeId + ")");
    }

    private List<Message> removal(int nodeId) {
        List<Message> records = new ArrayList<>();
        ResourceId settings = BrokerOverrides.of(nodeId);
        state.resources()
                .of(settings)
                .keySet()
                .forEach(name -> records.add(MetadataSnapshot.resourceRecord(settings, name, null)));
        records.add(new RemoveBrokerRecord().setNodeId(nodeId));
        return records;
    }

    /** Takes leaderships from brokers. Those that are fenced then lead nothing any more. */
    private Decision change(List<BrokerImage> changed) {
        if (changed.isEmpty()) {
            return Decision.append(List.of());
        }
        List<Message> records = leavingFirst(changed, elections(new KnownBrokers(state.brokers(), changed)));
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
                .setLeaving(broker.leaving())
                .setFull(broker.full());
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
                    PartitionChange elected = LeaderElection.elect(
                            partition, ReplicatedTopicRules.requiredInSync(topic, partition), known);
                    if (!elected.isEmpty()) {
                        changes.add(MetadataSnapshot.change(number, elected));
                    }
                }
            }
            addChanges(records, topic.id(), changes);
        }
        return records;
    }

    /**
     * What changes with the settings of a topic: where enough replicas are in sync now, others may lack what is acknowledged
     * from now on.
     *
     * @param changed the topic with its new settings
     */
    List<Message> requireFewer(TopicImage changed) {
        List<ChangeState> changes = new ArrayList<>();
        for (int number = 0; number < changed.partitions().size(); number++) {
            PartitionImage partition = changed.partitions().get(number);
            PartitionChange change =
                    LeaderElection.requireFewer(partition, ReplicatedTopicRules.requiredInSync(changed, partition));
            if (!change.isEmpty()) {
                changes.add(MetadataSnapshot.change(number, change));
            }
        }
        List<Message> records = new ArrayList<>();
        addChanges(records, changed.id(), changes);
        return records;
    }

    private static void addChanges(List<Message> records, Uuid topicId, List<ChangeState> changes) {
        for (int first = 0; first < changes.size(); first += CHANGES_PER_RECORD) {
            List<ChangeState> part = changes.subList(first, Math.min(changes.size(), first + CHANGES_PER_RECORD));
            records.add(new PartitionChangesRecord().setTopicId(topicId).setChanges(part));
        }
    }

    /**
     * Gives partitions back to their preferred leaders, for brokers that do not lead more than {@code tolerancePercent} of
     * the partitions that prefer them.
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
        KnownBrokers brokers = new KnownBrokers(state.brokers(), List.of());
        List<Message> records = new ArrayList<>();
        for (TopicImage topic : state.topics().byName()) {
            List<ChangeState> changes = new ArrayList<>();
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                int[] counts = preferred.get(partition.preferredLeader());
                if (partition.leader() != partition.preferredLeader()
                        && counts[1] * 100L > counts[0] * (long) tolerancePercent) {
                    PartitionChange elected = LeaderElection.electPreferred(
                            partition, ReplicatedTopicRules.requiredInSync(topic, partition), brokers);
                    if (!elected.isEmpty()) {
                        changes.add(MetadataSnapshot.change(number, elected));
                    }
                }
            }
            addChanges(records, topic.id(), changes);
        }
        return Decision.appendInParts(records);
    }
}
