package io.journalq.server.api.data;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.api.data.PendingProduce.PartitionAppend;
import java.util.ArrayList;
import java.util.List;

/** What a Produce request asks of a transaction's coordinator, and what its answer means to the producer. Stateless. */
final class TransactionAdmission {
    private static final short FIRST_VERSION_THAT_ADDS_PARTITIONS = 12;
    private static final short FIRST_VERSION_WITH_ABORTABLE_ERROR = 11;

    private TransactionAdmission() {}

    /**
     * The question that {@code appends} need an answer to.
     *
     * @param appends those of a transaction, at least one
     * @return null when they are not all of one producer
     */
    static TransactionGate.Request request(
            String transactionalId, short produceVersion, List<PartitionAppend> appends) {
        List<TopicPartition> partitions = new ArrayList<>(appends.size());
        PartitionAppend first = appends.get(0);
        for (PartitionAppend append : appends) {
            if (append.producerId() != first.producerId() || append.producerEpoch() != first.producerEpoch()) {
                return null;
            }
            partitions.add(append.partition());
        }
        boolean addMissing = produceVersion >= FIRST_VERSION_THAT_ADDS_PARTITIONS;
        return new TransactionGate.Request(
                transactionalId, first.producerId(), first.producerEpoch(), partitions, addMissing);
    }

    /** The error by which producers know what to do: older ones do not know those of coordinators. */
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
