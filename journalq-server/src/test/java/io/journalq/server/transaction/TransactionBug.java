package io.journalq.server.transaction;

/** What could go wrong with transactions: planted, each must be found. */
enum TransactionBug {
    NONE,
    /** Readers of committed records are not told of aborted transactions. */
    SHOWS_ABORTED_RECORDS,
    /** Readers of committed records are not stopped before the first open transaction. */
    SHOWS_OPEN_TRANSACTIONS,
    /** A marker that is told again is written again. */
    WRITES_A_MARKER_AGAIN,
    /** Decisions are told to partitions and producers before they are safe. */
    TELLS_BEFORE_IT_IS_SAFE,
    /** What a producer says is believed, whatever its epoch. */
    LETS_FENCED_PRODUCERS_WRITE
}
