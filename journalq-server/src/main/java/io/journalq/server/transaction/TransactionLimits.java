package io.journalq.server.transaction;

/**
 * Limits of transactions.
 *
 * @param maxTimeoutMs longest time that a producer may ask for its transactions
 * @param idExpirationMs how long a transactional id is kept that nobody uses
 */
public record TransactionLimits(int maxTimeoutMs, long idExpirationMs) {
    /** Bytes of an id must be fewer than the 32,767 that a record's key can tell. */
    public static final int MAX_TRANSACTIONAL_ID_LENGTH = 10_000;

    /** Ids that one coordinator keeps; each takes some hundred bytes of memory. */
    static final int MAX_TRANSACTIONAL_IDS = 1_000_000;

    /** Requests for partitions that wait for the end of one transaction before they go into the next. */
    static final int MAX_WAITING_REQUESTS = 1_000;
}
