package io.journalq.server.shard.append;

/**
 * How many replicas must have a batch before its sender is informed. The topic's delivery mode determines how safe it
 * must be on each of them.
 */
public enum RequiredAcks {
    /** The leader. Also for senders that do not want to be informed (acks=0). */
    LEADER,

    /** Every in-sync replica (acks=all). There must be at least {@code min.insync.replicas}. */
    ALL
}
