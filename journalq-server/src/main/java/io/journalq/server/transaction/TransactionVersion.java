package io.journalq.server.transaction;

/** Generations of the protocol of transactions, as the feature {@code transaction.version} counts them (KIP-890). */
public final class TransactionVersion {
    /** Partitions are added by request, the epoch stays from one transaction to the next. */
    public static final short FIRST = 0;

    /** Partitions are added with what is produced to them, the epoch grows with every transaction. */
    public static final short SECOND = 2;

    private TransactionVersion() {}
}
