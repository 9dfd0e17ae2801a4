package io.journalq.client.transaction;

/**
 * What belongs into one transaction.
 *
 * @param <E> what it may throw besides unchecked exceptions; the transaction is then aborted
 */
@FunctionalInterface
public interface TransactionBody<E extends Exception> {
    /** Sends and commits offsets. Called once for each call of the producer, by its thread. */
    void run(Transaction transaction) throws E;
}
