package io.journalq.server.shard.replica;

import io.journalq.server.shard.partition.PartitionHost;

/** Changes the files of partitions that are not appended to. On the partition's loop. */
public interface PartitionRewrites {
    /**
     * Removes the end of a partition's log while it is not open, see {@link PartitionHost#cutJournal}, and opens it
     * again. Without effect if the partition's role has changed.
     */
    void cut(PartitionHost host, long offset);

    /** Stops to use a partition, because its log and the leader's contradict each other. */
    void takeOffline(PartitionHost host, String reason);
}
