package io.journalq.sim.check;

import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.Map;

/** A replica never removes records that are below its high watermark, because consumers may have seen them. */
public final class NobodyCutsBelowItsHighWatermark {
    private static final String INVARIANT = "NobodyCutsBelowItsHighWatermark";

    private final Violations violations;
    private final Map<Replica, Long> highWatermarks = new HashMap<>();

    /** A replica of a partition. */
    private record Replica(ClusterReplicas.Id partition, int broker) {}

    public NobodyCutsBelowItsHighWatermark(Violations violations) {
        this.violations = violations;
    }

    /** The replicas of all running brokers, some time after the last call. */
    public void onReplicas(ClusterReplicas replicas) {
        replicas.open()
                .forEach((id, byBroker) -> byBroker.forEach((broker, status) -> {
                    long known = highWatermarks.merge(new Replica(id, broker), status.highWatermark(), Math::max);
                    if (status.endOffset() < known) {
                        violations.report(
                                INVARIANT,
                                "broker " + broker + " ends at " + status.endOffset() + ", its high watermark was "
                                        + known + ": " + status);
                    }
                }));
    }
}
