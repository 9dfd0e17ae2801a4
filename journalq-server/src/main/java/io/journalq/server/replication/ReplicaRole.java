package io.journalq.server.replication;

/** What a replica does in a leader epoch. */
public sealed interface ReplicaRole permits LeaderRole, FollowerRole, CuttingRole {
    /** The leader epoch; -1 before the replica has a role. */
    int leaderEpoch();
}
