package io.journalq.server.api.data;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import java.util.List;
import java.util.function.Consumer;

/**
 * Admits the records of a transaction before they are appended, so that no record is appended to a partition that does
 * not take part in the transaction (KIP-890).
 */
@FunctionalInterface
public interface TransactionGate {
    /** For a broker without transactions: admits nothing. */
    TransactionGate CLOSED = (request, decided) -> decided.accept(ErrorCode.INVALID_TXN_STATE);

    /**
     * The producer and the partitions of its records.
     *
     * @param partitions all that have records in one Produce request
     * @param addMissing whether partitions that do not take part yet are added to the transaction (Produce from version
     *     12 on); if not, they must take part already
     */
    record Request(
            String transactionalId,
            long producerId,
            short producerEpoch,
            List<TopicPartition> partitions,
            boolean addMissing) {}

    /**
     * Asks the coordinator of a transaction.
     *
     * @param decided is called once. With NONE, it is called on the coordinator's loop, from which markers are sent
     *     too: what it hands over to the loops of partitions is not overtaken by a marker of the same transaction. If the
     *     coordinator is on another broker, or with an error, it is called on any loop. CONCURRENT_TRANSACTIONS,
     *     COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE and NOT_COORDINATOR are temporary, and the producer
     *     retries
     */
    void admit(Request request, Consumer<ErrorCode> decided);
}
