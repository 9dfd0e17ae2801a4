package io.journalq.server.transaction;

import io.journalq.common.id.TopicPartition;
import java.util.List;

/**
 * A decided transaction that partitions are to be told of.
 *
 * @param transactionalId whose
 * @param producerId the transaction's producer
 * @param producerEpoch the epoch that the markers carry; not before the one in which records were written
 * @param commit whether it commits, else it aborts
 * @param transactionVersion generation of the protocol: 2 when the epoch grew with the decision (KIP-890), less before
 * @param partitions the partitions, at least one
 */
public record MarkerRequest(
        String transactionalId,
        long producerId,
        short producerEpoch,
        boolean commit,
        short transactionVersion,
        List<TopicPartition> partitions) {}
