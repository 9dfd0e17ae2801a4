package io.journalq.server.transaction;

/** Versions of the transaction protocol, as in the feature {@code transaction.version} (KIP-890). */
public final class TransactionVersion {
    /** Partitions are added by separate requests, and the epoch stays the same from one transaction to the next. */
    public static final short FIRST = 0;

    /**
     * Partitions are added by the requests that send their records, and the epoch is incremented with every
     * transaction.
     */
    public static final short SECOND = 2;

    private TransactionVersion() {}
}
