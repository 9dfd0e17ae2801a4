package io.journalq.client.transaction;

/**
 * The work that is done in one transaction. See {@link io.journalq.client.Producer#inTransaction}.
 *
 * @param <E> the checked exception that the body may throw; if it throws, the transaction is aborted
 */
@FunctionalInterface
public interface TransactionBody<E extends Exception> {
    /** Sends records and commits offsets. Called once, by the thread that runs the transaction. */
    void run(Transaction transaction) throws E;
}
