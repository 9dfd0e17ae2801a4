package io.journalq.sim.check;

import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.Map;

/**
 * The high watermark of a leader waits for all in-sync replicas, and rests while fewer of them are in sync than the topic
 * requires.
 */
public final class HighWatermarkWaits {
    private static final String INVARIANT = "HighWatermarkWaits";

    private final Violations violations;
    private final Map<ClusterReplicas.Id, ReplicaStatus> leaders = new HashMap<>();

    public HighWatermarkWaits(Violations violations) {
        this.violations = violations;
    }

    /** The replicas of all running brokers, some time after the last call. */
    public void onReplicas(ClusterReplicas replicas) {
        replicas.open()
                .forEach((id, byBroker) -> byBroker.forEach((broker, status) -> {
                    if (status.leads()
                            && status.leaderEpoch() == replicas.partition(id).leaderEpoch()) {
                        onLeader(replicas, id, broker, status);
                    }
                }));
    }

    private void onLeader(ClusterReplicas replicas, ClusterReplicas.Id id, int broker, ReplicaStatus status) {
        ReplicaStatus before = leaders.put(id, status);
        // The set can become large enough and too small again between two looks.
        if (before != null
                && before.partitionEpoch() == status.partitionEpoch()
                && before.leaderEpoch() == status.leaderEpoch()
                && !before.hasEnoughReplicas()
                && !status.hasEnoughReplicas()
                && status.highWatermark() > before.highWatermark()) {
            violations.report(
                    INVARIANT,
                    "broker " + broker + " moves the high watermark with too few in-sync replicas: " + before + ", now "
                            + status);
        }
        for (int member : replicas.partition(id).inSyncReplicas()) {
            ReplicaStatus other = replicas.open().get(id).get(member);
            if (other != null && other.endOffset() < status.highWatermark()) {
                violations.report(
                        INVARIANT,
                        "the leader, broker " + broker + ", does not wait for broker " + member + ": " + status + ", "
                                + other + ", " + replicas.partition(id));
            }
        }
    }
}
