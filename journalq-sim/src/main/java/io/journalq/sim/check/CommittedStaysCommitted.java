package io.journalq.sim.check;

import io.journalq.sim.cluster.ClusterPartition;
import io.journalq.sim.workload.LogReader;
import io.journalq.sim.world.Violations;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a consumer of committed records has seen of a transaction stays committed: each replica shows it to such consumers
 * for good. Only for partitions that lose nothing that a consumer has seen.
 */
public final class CommittedStaysCommitted {
    private static final String INVARIANT = "CommittedStaysCommitted";

    private final Violations violations;
    /** By the name of the partition. */
    private final Map<String, Set<Place>> seen = new TreeMap<>();

    private record Place(long offset, String id) {}

    public CommittedStaysCommitted(Violations violations) {
        this.violations = violations;
    }

    /** A broker returns a record to a consumer of committed records. */
    public void onRead(ClusterPartition partition, LogReader.Found found) {
        if (found.isTransactional()) {
            seen.computeIfAbsent(partition.name(), none -> new HashSet<>()).add(new Place(found.offset(), found.id()));
        }
    }

    /** Compares what was seen of a partition with the committed records of one of its replicas at the end. */
    public void check(ClusterPartition partition, LogReader.Reading replica) {
        Set<Place> shown = new HashSet<>();
        replica.records().forEach(found -> shown.add(new Place(found.offset(), found.id())));
        for (Place place : seen.getOrDefault(partition.name(), Set.of())) {
            if (!shown.contains(place)) {
                violations.report(
                        INVARIANT,
                        replica.partition() + " does not show " + place
                                + ", which a consumer of committed records has seen");
            }
        }
    }
}
