package io.journalq.server.transaction;

/** Faults that are planted into transactions. The test must find each of them. */
enum TransactionBug {
    NONE,
    /** Read-committed consumers are not informed of aborted transactions. */
    SHOWS_ABORTED_RECORDS,
    /** Read-committed consumers are not stopped before the first open transaction. */
    SHOWS_OPEN_TRANSACTIONS,
    /** A repeated marker is written again. */
    WRITES_A_MARKER_AGAIN,
    /** Partitions and producers are informed of decisions before these are safe. */
    TELLS_BEFORE_IT_IS_SAFE,
    /** A producer's request is accepted regardless of its epoch. */
    LETS_FENCED_PRODUCERS_WRITE
}
