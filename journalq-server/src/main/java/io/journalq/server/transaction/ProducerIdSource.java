package io.journalq.server.transaction;

/** Allocates producer ids. */
public interface ProducerIdSource {
    /** Passed to {@link TransactionMachine#onProducerId} if no id is available. */
    long NONE = -1;

    /** Requests a unique id, which is passed to {@link TransactionMachine#onProducerId}. */
    void request(String transactionalId);
}
