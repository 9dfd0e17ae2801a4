package io.journalq.server.api.data;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;

/**
 * Converts between Produce requests and {@link TransactionGate}: creates the gate's request, and the error for the
 * producer. Stateless.
 */
final class TransactionAdmission {
    private static final short FIRST_VERSION_THAT_ADDS_PARTITIONS = 12;
    private static final short FIRST_VERSION_WITH_ABORTABLE_ERROR = 11;

    private TransactionAdmission() {}

    /** A transactional batch that is to be appended. */
    interface TransactionalBatch {
        TopicPartition partition();

        long producerId();

        short producerEpoch();
    }

    /**
     * Asks whether batches may be appended.
     *
     * @param batches of a transaction, at least one
     * @return null when the batches have different producers
     */
    static TransactionGate.Request request(
            String transactionalId, short produceVersion, List<? extends TransactionalBatch> batches) {
        List<TopicPartition> partitions = new ArrayList<>(batches.size());
        TransactionalBatch first = batches.get(0);
        for (TransactionalBatch batch : batches) {
            if (batch.producerId() != first.producerId() || batch.producerEpoch() != first.producerEpoch()) {
                return null;
            }
            partitions.add(batch.partition());
        }
        boolean addMissing = produceVersion >= FIRST_VERSION_THAT_ADDS_PARTITIONS;
        return new TransactionGate.Request(
                transactionalId, first.producerId(), first.producerEpoch(), partitions, addMissing);
    }

    /** The error for the producer. Older producers do not know the errors of coordinators. */
    static ErrorCode errorOfProduce(ErrorCode refusal, short produceVersion) {
        return switch (refusal) {
            case CONCURRENT_TRANSACTIONS, COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR ->
                ErrorCode.NOT_ENOUGH_REPLICAS;
            case PRODUCER_FENCED -> ErrorCode.INVALID_PRODUCER_EPOCH;
            case TRANSACTION_ABORTABLE ->
                produceVersion < FIRST_VERSION_WITH_ABORTABLE_ERROR ? ErrorCode.INVALID_TXN_STATE : refusal;
            default -> refusal;
        };
    }
}
