package io.journalq.sim.workload;

/** What clients get done, by kind: a kind that does nothing finds nothing, and nobody would notice. */
public enum Work {
    /** Batches that were acknowledged. */
    PLAIN_BATCHES,
    IDEMPOTENT_BATCHES,
    TRANSACTIONS_COMMITTED,
    TRANSACTIONS_ABORTED,
    /** Of positions as well as records. */
    TRANSACTIONS_WITH_OFFSETS,
    /** By consumers of all records. */
    RECORDS_READ,
    /** By consumers of committed records. */
    COMMITTED_RECORDS_READ,
    POSITIONS_COMMITTED,
    CLASSIC_MEMBERS_COMMITS,
    CONSUMER_MEMBERS_COMMITS,
    TOPICS_CREATED,
    TOPICS_DELETED,
    RECORDS_DELETED
}
