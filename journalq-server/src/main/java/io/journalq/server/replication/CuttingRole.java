package io.journalq.server.replication;

/**
 * The replica removes the end of its log, which differs from the leader's. Meanwhile it appends and acknowledges nothing.
 * When it is opened again, it has another role. Immutable.
 *
 * @param offset the new end of its log, at most
 */
public record CuttingRole(int leaderEpoch, long offset) implements ReplicaRole {}
