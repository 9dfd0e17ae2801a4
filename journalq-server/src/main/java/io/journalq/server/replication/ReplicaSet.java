package io.journalq.server.replication;

import java.util.List;

/**
 * The replicas of a partition, as of its metadata. Immutable.
 *
 * @param leader broker id of the leader, or {@link FollowerRole#NO_LEADER}
 * @param leaderEpoch incremented with each change of leader
 * @param partitionEpoch incremented with each change of anything in this record
 * @param replicas broker ids of all replicas
 * @param inSync broker ids of the in-sync replicas
 * @param eligible broker ids of the replicas that may lead if none is in sync (KIP-966)
 * @param recoveryEpoch the last leader epoch that began without some acknowledged records; -1 if none did
 * @param adding broker ids of the replicas that a reassignment adds
 */
public record ReplicaSet(
        int leader,
        int leaderEpoch,
        int partitionEpoch,
        List<Integer> replicas,
        List<Integer> inSync,
        List<Integer> eligible,
        int recoveryEpoch,
        List<Integer> adding) {
    private static final int NO_RECOVERY = -1;

    public ReplicaSet {
        replicas = List.copyOf(replicas);
        inSync = List.copyOf(inSync);
        eligible = List.copyOf(eligible);
        adding = List.copyOf(adding);
    }

    /** The set of a partition that has lost nothing, and whose replicas stay. */
    public ReplicaSet(int leader, int leaderEpoch, int partitionEpoch, List<Integer> replicas, List<Integer> inSync) {
        this(leader, leaderEpoch, partitionEpoch, replicas, inSync, List.of(), NO_RECOVERY, List.of());
    }

    /** The set of a partition whose only replica leads. */
    public static ReplicaSet ofOne(int leader, int leaderEpoch) {
        return new ReplicaSet(leader, leaderEpoch, 0, List.of(leader), List.of(leader));
    }

    /** Number of replicas without those that a reassignment adds. */
    public int establishedSize() {
        return replicas.size() - adding.size();
    }
}
