package io.journalq.sim.check;

import io.journalq.sim.cluster.ClusterPartition;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The broker of a partition keeps what it has acknowledged. With one replica, a power loss takes at most what was
 * acknowledged shortly before in delivery mode {@code eventual}. An offset keeps its record.
 */
public final class AcknowledgedIsKept {
    private static final String INVARIANT = "AcknowledgedIsKept";

    private final Violations violations;
    private final long boundMs;
    private final Map<ClusterPartition, TreeMap<Long, Acknowledged>> partitions = new HashMap<>();
    private final Map<ClusterPartition, TreeMap<Long, String>> read = new HashMap<>();
    private long records;

    /** A record that a broker has acknowledged. */
    private record Acknowledged(String id, int leader, long atMs) {}

    /** @param boundMs how old records are that a power loss cannot take in delivery mode {@code eventual} */
    public AcknowledgedIsKept(Violations violations, long boundMs) {
        this.violations = violations;
        this.boundMs = boundMs;
    }

    /** Number of acknowledgements and reads. */
    public long records() {
        return records;
    }

    /** A broker acknowledges a record. */
    public void onAcknowledged(ClusterPartition partition, int leader, long offset, String id, long nowMs) {
        records++;
        Acknowledged before = partitions
                .computeIfAbsent(partition, none -> new TreeMap<>())
                .put(offset, new Acknowledged(id, leader, nowMs));
        if (before != null && !before.id().equals(id)) {
            violations.report(
                    INVARIANT,
                    partition + " offset " + offset + " holds " + before + ", and " + id + " is acknowledged there");
        }
    }

    /** A broker returns a record. */
    public void onRead(ClusterPartition partition, long offset, String id) {
        records++;
        read.computeIfAbsent(partition, none -> new TreeMap<>()).put(offset, id);
        Acknowledged expected =
                partitions.getOrDefault(partition, new TreeMap<>()).get(offset);
        if (expected != null && !expected.id().equals(id)) {
            violations.report(INVARIANT, partition + " offset " + offset + " holds " + id + " instead of " + expected);
        }
    }

    /**
     * The machine of a broker loses power.
     *
     * @param servedUntilMs when the broker last served clients
     */
    public void onPowerLoss(int nodeId, long servedUntilMs) {
        partitions.forEach((partition, records) -> {
            if (!partition.isConsistent()) {
                records.values()
                        .removeIf(record -> record.leader() == nodeId && record.atMs() > servedUntilMs - boundMs);
            }
        });
    }

    /** Everything is about to be read from the beginning. */
    public void onReadBack() {
        read.clear();
    }

    /** Everything has been read from the beginning. */
    public void check() {
        partitions.forEach((partition, records) -> {
            TreeMap<Long, String> present = read.getOrDefault(partition, new TreeMap<>());
            records.forEach((offset, record) -> {
                if (!present.containsKey(offset)) {
                    violations.report(
                            INVARIANT,
                            partition + " has lost offset " + offset + ", " + record + "; its last offset is "
                                    + (present.isEmpty() ? "none" : present.lastKey()));
                }
            });
        });
    }
}
