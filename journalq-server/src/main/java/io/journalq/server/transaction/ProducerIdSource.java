package io.journalq.server.transaction;

/** Where producer ids come from. */
public interface ProducerIdSource {
    /** What {@link TransactionMachine#onProducerId} is told when there is no id to be had. */
    long NONE = -1;

    /** Asks for an id that nobody else has; answered by {@link TransactionMachine#onProducerId}. */
    void request(String transactionalId);
}
