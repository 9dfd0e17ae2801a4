package io.journalq.sim.check;

import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.Map;

/** A leader epoch of a partition has one leader, in the metadata and on the brokers. */
public final class EpochsHaveOneLeader {
    private static final String INVARIANT = "EpochsHaveOneLeader";

    private final Violations violations;
    private final Map<Epoch, Integer> leaders = new HashMap<>();

    /** An epoch of a partition. */
    private record Epoch(ClusterReplicas.Id partition, int number) {}

    public EpochsHaveOneLeader(Violations violations) {
        this.violations = violations;
    }

    /** The quorum has committed metadata. */
    public void onMetadata(MetadataImage committed) {
        for (TopicImage topic : committed.topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                onLeader(new ClusterReplicas.Id(topic.id(), number), partition.leaderEpoch(), partition.leader());
            }
        }
    }

    /** The replicas of all running brokers. */
    public void onReplicas(ClusterReplicas replicas) {
        replicas.open()
                .forEach((id, byBroker) -> byBroker.forEach((broker, status) -> {
                    if (status.leads()) {
                        onLeader(id, status.leaderEpoch(), broker);
                    }
                }));
    }

    private void onLeader(ClusterReplicas.Id id, int epoch, int broker) {
        Integer before = leaders.putIfAbsent(new Epoch(id, epoch), broker);
        if (before != null && before != broker) {
            violations.report(
                    INVARIANT, "broker " + before + " and broker " + broker + " lead " + id + " in epoch " + epoch);
        }
    }
}
