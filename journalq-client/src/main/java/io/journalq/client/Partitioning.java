package io.journalq.client;

/** Where records go that have neither a partition nor a key. Records with a key follow the murmur2 hash of it. */
public enum Partitioning {
    /** To one partition until it has had a batch's worth of bytes, then to another (KIP-794): larger batches. */
    STICKY,
    /** Each record to the next partition. */
    ROUND_ROBIN
}
