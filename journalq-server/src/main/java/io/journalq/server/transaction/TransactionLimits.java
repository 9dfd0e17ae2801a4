package io.journalq.server.transaction;

/**
 * Limits of transactions.
 *
 * @param maxTimeoutMs maximum transaction timeout that a producer may request, in milliseconds
 * @param idExpirationMs how long an unused transactional id is kept, in milliseconds
 */
public record TransactionLimits(int maxTimeoutMs, long idExpirationMs) {
    /** The id must have fewer bytes than the 32,767 that fit into a record's key. */
    public static final int MAX_TRANSACTIONAL_ID_LENGTH = 10_000;

    /** Maximum number of ids of one coordinator; each uses a few hundred bytes of memory. */
    static final int MAX_TRANSACTIONAL_IDS = 1_000_000;

    /** Maximum number of requests that wait for the end of one transaction to add partitions to the next. */
    static final int MAX_WAITING_REQUESTS = 1_000;

    /** How long such a request waits. Its records use memory in the meantime, and the partitions may be offline. */
    static final long MAX_WAIT_MS = 1_000;
}
