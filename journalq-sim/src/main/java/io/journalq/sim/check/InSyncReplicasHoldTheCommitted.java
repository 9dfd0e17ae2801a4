package io.journalq.sim.check;

import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.Map;

/**
 * Each in-sync replica has everything that a consumer may have seen: all records below the high watermark. A power loss
 * takes it from none that stays in sync. An epoch that begins without some of these records sets the mark again.
 */
public final class InSyncReplicasHoldTheCommitted {
    private static final String INVARIANT = "InSyncReplicasHoldTheCommitted";

    private final Violations violations;
    private final Map<ClusterReplicas.Id, Long> highWatermarks = new HashMap<>();
    private final Map<ClusterReplicas.Id, Integer> recoveryEpochs = new HashMap<>();

    public InSyncReplicasHoldTheCommitted(Violations violations) {
        this.violations = violations;
    }

    /** The replicas of all running brokers, some time after the last call. */
    public void onReplicas(ClusterReplicas replicas) {
        replicas.open().forEach((id, byBroker) -> {
            int recoveryEpoch = replicas.partition(id).recoveryEpoch();
            Integer before = recoveryEpochs.put(id, recoveryEpoch);
            if (before != null && before != recoveryEpoch) {
                highWatermarks.remove(id);
            }
            for (ReplicaStatus status : byBroker.values()) {
                if (status.leads() && status.leaderEpoch() >= recoveryEpoch) {
                    highWatermarks.merge(id, status.highWatermark(), Math::max);
                }
            }
            long seen = highWatermarks.getOrDefault(id, 0L);
            for (int member : replicas.partition(id).inSyncReplicas()) {
                ReplicaStatus status = byBroker.get(member);
                if (status != null && status.endOffset() < seen) {
                    violations.report(
                            INVARIANT,
                            "broker " + member + " is in sync and ends at " + status.endOffset() + ", but consumers may"
                                    + " have seen everything before " + seen + ": " + status + ", "
                                    + replicas.partition(id));
                }
            }
        });
    }
}
