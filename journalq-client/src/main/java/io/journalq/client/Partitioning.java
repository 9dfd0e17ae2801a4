package io.journalq.client;

/**
 * How the producer chooses a partition for records that have neither a partition nor a key. Records with a key go to
 * the partition that the murmur2 hash of the key selects.
 */
public enum Partitioning {
    /**
     * All records go to one partition until a batch is full, then to another one (KIP-794). Batches are larger this
     * way.
     */
    STICKY,
    /** Each record goes to the next partition. */
    ROUND_ROBIN
}
