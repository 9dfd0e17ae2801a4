package io.journalq.sim.check;

import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * A replica never removes records that are below its high watermark, because consumers may have seen them, unless an epoch
 * has begun without these records. A power loss can take them, except from an in-sync replica in mode {@code consistent}. A
 * replica that has moved to another broker and comes back is a new one. So is one that is copied again because its disk
 * has damaged it.
 */
public final class NobodyCutsBelowItsHighWatermark {
    private static final String INVARIANT = "NobodyCutsBelowItsHighWatermark";
    private static final String MODE = "delivery.mode";
    private static final String CONSISTENT = "consistent";

    private final Violations violations;
    private final Map<Replica, Long> highWatermarks = new HashMap<>();
    /** The replicas of the newest metadata. */
    private final Set<Replica> assigned = new HashSet<>();
    /** The leader epoch with which a replica has left a broker. A broker that is behind still has it in an older one. */
    private final Map<Replica, Integer> gone = new HashMap<>();

    private final Map<ClusterReplicas.Id, Integer> recoveryEpochs = new HashMap<>();
    /** The replicas whose files the disk has changed. */
    private final Set<Replica> damaged = new HashSet<>();

    /** A replica of a partition. */
    private record Replica(ClusterReplicas.Id partition, int broker) {}

    public NobodyCutsBelowItsHighWatermark(Violations violations) {
        this.violations = violations;
    }

    /** The quorum has committed metadata. */
    public void onMetadata(MetadataImage committed) {
        for (TopicImage topic : committed.topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                ClusterReplicas.Id id = new ClusterReplicas.Id(topic.id(), number);
                partition.replicas().forEach(broker -> assigned.add(new Replica(id, broker)));
                assigned.removeIf(replica -> {
                    boolean leaves = replica.partition().equals(id)
                            && !partition.replicas().contains(replica.broker());
                    if (leaves) {
                        gone.put(replica, partition.leaderEpoch());
                        highWatermarks.remove(replica);
                    }
                    return leaves;
                });
            }
        }
    }

    /** The machine of a broker loses power. */
    public void onPowerLoss(MetadataImage committed, int broker) {
        highWatermarks.keySet().removeIf(replica -> {
            TopicImage topic = committed.topic(replica.partition().topicId());
            boolean keeps = topic != null
                    && CONSISTENT.equals(topic.configs().get(MODE))
                    && topic.partitions()
                            .get(replica.partition().partition())
                            .inSyncReplicas()
                            .contains(broker);
            return replica.broker() == broker && !keeps;
        });
    }

    /** A broker that is down loses the files of a replica. */
    public void onFilesLost(ClusterReplicas.Id partition, int broker) {
        highWatermarks.remove(new Replica(partition, broker));
    }

    /** The disk of a broker changes the files of a replica. The broker may copy it again, but not while it is in sync. */
    public void onDamage(ClusterReplicas.Id partition, int broker) {
        damaged.add(new Replica(partition, broker));
    }

    /**
     * Whether a replica may remove records that consumers may have seen: an epoch has begun without some records, and the
     * replica may still have them, or the replica is damaged and is copied again.
     */
    private boolean mayCut(PartitionImage partition, Replica replica, ReplicaStatus status) {
        boolean mayHaveMore = partition.recoveryEpoch() != PartitionImage.NO_RECOVERY;
        boolean isCopiedAgain =
                damaged.contains(replica) && status.highWatermark() < highWatermarks.getOrDefault(replica, 0L);
        return (mayHaveMore || isCopiedAgain) && !partition.inSyncReplicas().contains(replica.broker());
    }

    /** The replicas of all running brokers, some time after the last call. */
    public void onReplicas(ClusterReplicas replicas) {
        replicas.open().keySet().forEach(id -> {
            int recoveryEpoch = replicas.partition(id).recoveryEpoch();
            Integer before = recoveryEpochs.put(id, recoveryEpoch);
            if (before != null && before != recoveryEpoch) {
                highWatermarks.keySet().removeIf(replica -> replica.partition().equals(id));
            }
        });
        replicas.open()
                .forEach((id, byBroker) -> byBroker.forEach((broker, status) -> {
                    Replica replica = new Replica(id, broker);
                    if (status.leaderEpoch() < gone.getOrDefault(replica, 0)) {
                        return;
                    }
                    if (mayCut(replicas.partition(id), replica, status)) {
                        highWatermarks.remove(replica);
                        return;
                    }
                    long known = highWatermarks.merge(replica, status.highWatermark(), Math::max);
                    if (status.endOffset() < known) {
                        violations.report(
                                INVARIANT,
                                "broker " + broker + " ends at " + status.endOffset() + ", its high watermark was "
                                        + known + ": " + status);
                    }
                }));
    }
}
