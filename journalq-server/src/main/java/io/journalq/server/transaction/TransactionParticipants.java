package io.journalq.server.transaction;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.transaction.TransactionMachine.ProducerClaim;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The partitions of transactions: adds them, and confirms to appends that a partition is part of a transaction
 * (KIP-890). The first partition starts the transaction.
 */
final class TransactionParticipants {
    private final TransactionalIds transactions;
    private final ProducerIdRequests waits;

    /** Requests that arrived while the previous transaction was ending, by transactional id. */
    private final Map<String, ArrayDeque<Waiting>> waitingById = new TreeMap<>();

    /** A request to add partitions to the next transaction. */
    private record Waiting(
            ProducerClaim claim, List<TopicPartition> partitions, short version, Reply<ErrorCode> reply) {}

    TransactionParticipants(TransactionalIds transactions, ProducerIdRequests waits) {
        this.transactions = transactions;
        this.waits = waits;
    }

    /** Adds partitions; replies CONCURRENT_TRANSACTIONS while the previous transaction is ending. */
    void add(ProducerClaim claim, List<TopicPartition> partitions, short version, long nowMs, Reply<ErrorCode> reply) {
        TransactionMetadata known = transactions.get(claim.transactionalId());
        ErrorCode refusal = check(known, claim);
        if (refusal != ErrorCode.NONE) {
            reply.send(refusal);
            return;
        }
        boolean open = known.state() == TransactionState.ONGOING;
        if (!partitions.isEmpty() && !(open && known.partitions().containsAll(partitions))) {
            if (!transactions.hasRoom(known, partitions)) {
                // The producer aborts the transaction, which frees memory.
                reply.send(ErrorCode.POLICY_VIOLATION);
                return;
            }
            transactions.put(known.withPartitions(partitions, version, nowMs));
        }
        reply.send(ErrorCode.NONE);
    }

    /** Adds partitions as soon as the previous transaction is complete. */
    void addWhenEnded(
            ProducerClaim claim, List<TopicPartition> partitions, short version, long nowMs, Reply<ErrorCode> reply) {
        TransactionMetadata known = transactions.get(claim.transactionalId());
        if (check(known, claim) == ErrorCode.CONCURRENT_TRANSACTIONS
                && known.state().isPrepared()) {
            ArrayDeque<Waiting> waiting = waitingById.computeIfAbsent(known.id(), id -> new ArrayDeque<>());
            if (waiting.size() < TransactionLimits.MAX_WAITING_REQUESTS) {
                waiting.add(new Waiting(claim, partitions, version, reply));
                return;
            }
        }
        add(claim, partitions, version, nowMs, reply);
    }

    /** Continues the requests that waited for the transaction of this id to complete. */
    void onCompleted(String transactionalId, long nowMs) {
        ArrayDeque<Waiting> waiting = waitingById.remove(transactionalId);
        if (waiting != null) {
            for (Waiting next : waiting) {
                add(next.claim(), next.partitions(), next.version(), nowMs, next.reply());
            }
        }
    }

    /** Replies whether all of the partitions are part of the producer's open transaction. */
    void verify(ProducerClaim claim, List<TopicPartition> partitions, Reply<ErrorCode> reply) {
        TransactionMetadata known = transactions.get(claim.transactionalId());
        ErrorCode refusal = check(known, claim);
        if (refusal != ErrorCode.NONE) {
            reply.send(refusal);
        } else if (known.state() == TransactionState.ONGOING
                && known.partitions().containsAll(partitions)) {
            reply.send(ErrorCode.NONE);
        } else {
            reply.send(ErrorCode.TRANSACTION_ABORTABLE);
        }
    }

    private ErrorCode check(TransactionMetadata known, ProducerClaim claim) {
        if (known == null) {
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING;
        }
        boolean isNext = known.state().isPrepared()
                && claim.producerId() == known.producerIdAfterwards()
                && claim.producerEpoch() == known.epochAfterwards();
        if (isNext) {
            return ErrorCode.CONCURRENT_TRANSACTIONS;
        }
        if (claim.producerId() != known.producerId()) {
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING;
        }
        if (claim.producerEpoch() != known.epoch()) {
            return ErrorCode.PRODUCER_FENCED;
        }
        boolean busy = known.state().isPrepared() || waits.contains(known.id());
        return busy ? ErrorCode.CONCURRENT_TRANSACTIONS : ErrorCode.NONE;
    }
}
