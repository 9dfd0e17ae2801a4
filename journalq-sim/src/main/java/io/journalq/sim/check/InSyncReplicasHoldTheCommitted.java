package io.journalq.sim.check;

import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.Map;

/** Each in-sync replica has everything that a consumer may have seen: all records below the high watermark. */
public final class InSyncReplicasHoldTheCommitted {
    private static final String INVARIANT = "InSyncReplicasHoldTheCommitted";

    private final Violations violations;
    private final Map<ClusterReplicas.Id, Long> highWatermarks = new HashMap<>();

    public InSyncReplicasHoldTheCommitted(Violations violations) {
        this.violations = violations;
    }

    /** The replicas of all running brokers, some time after the last call. */
    public void onReplicas(ClusterReplicas replicas) {
        replicas.open().forEach((id, byBroker) -> {
            for (ReplicaStatus status : byBroker.values()) {
                highWatermarks.merge(id, status.highWatermark(), Math::max);
            }
            long seen = highWatermarks.get(id);
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
