package io.journalq.server.api.data;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import java.util.List;
import java.util.function.Consumer;

/**
 * Asks a transaction's coordinator before its records are appended, so that no record comes into a partition that the end
 * of the transaction would not reach (KIP-890).
 */
@FunctionalInterface
public interface TransactionGate {
    /** For a broker without transactions: lets nothing in. */
    TransactionGate CLOSED = (request, decided) -> decided.accept(ErrorCode.INVALID_TXN_STATE);

    /**
     * Whose records go where.
     *
     * @param partitions all that have records in one Produce request
     * @param addMissing whether partitions that do not take part yet are added to the transaction (Produce from version 12
     *     on); else they must take part
     */
    record Request(
            String transactionalId,
            long producerId,
            short producerEpoch,
            List<TopicPartition> partitions,
            boolean addMissing) {}

    /**
     * Asks.
     *
     * @param decided called once. With NONE on the coordinator's loop, from which markers set out too: what it hands to
     *     partitions' loops is not overtaken by a marker of the same transaction. With a reason not to append, on any
     *     thread: CONCURRENT_TRANSACTIONS, COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE and NOT_COORDINATOR
     *     are passing and have the producer try again
     */
    void admit(Request request, Consumer<ErrorCode> decided);
}
