package io.journalq.server.transaction;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.coordinator.CoordinatorMachine;
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

    /** The same requests in the order of their arrival, with some that do not wait any more. */
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();

    /** A request to add partitions to the next transaction. */
    private record Request(
            ProducerClaim claim, List<TopicPartition> partitions, short version, Reply<ErrorCode> reply) {}

    /** A request until it does not wait any more. */
    private static final class Waiting {
        private final long untilMs;
        /** Null if it does not wait any more. */
        private Request request;

        Waiting(Request request, long untilMs) {
            this.request = request;
            this.untilMs = untilMs;
        }

        Request take() {
            Request taken = request;
            request = null;
            return taken;
        }
    }

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

    /** Adds partitions as soon as the previous transaction is complete, or replies as {@link #add} after a moment. */
    void addWhenEnded(
            ProducerClaim claim, List<TopicPartition> partitions, short version, long nowMs, Reply<ErrorCode> reply) {
        TransactionMetadata known = transactions.get(claim.transactionalId());
        if (check(known, claim) == ErrorCode.CONCURRENT_TRANSACTIONS
                && known.state().isPrepared()) {
            ArrayDeque<Waiting> ofId = waitingById.computeIfAbsent(known.id(), id -> new ArrayDeque<>());
            if (ofId.size() < TransactionLimits.MAX_WAITING_REQUESTS) {
                Waiting added = new Waiting(
                        new Request(claim, partitions, version, reply), nowMs + TransactionLimits.MAX_WAIT_MS);
                ofId.add(added);
                waiting.add(added);
                return;
            }
        }
        add(claim, partitions, version, nowMs, reply);
    }

    /** Continues the requests that waited for the transaction of this id to complete. */
    void onCompleted(String transactionalId, long nowMs) {
        ArrayDeque<Waiting> ofId = waitingById.remove(transactionalId);
        if (ofId != null) {
            for (Waiting each : ofId) {
                Request next = each.take();
                add(next.claim(), next.partitions(), next.version(), nowMs, next.reply());
            }
        }
    }

    /** When the next request has waited for too long; {@link CoordinatorMachine#NEVER} if none waits. */
    long dueMs() {
        while (!waiting.isEmpty() && waiting.peek().request == null) {
            waiting.remove();
        }
        return waiting.isEmpty() ? CoordinatorMachine.NEVER : waiting.peek().untilMs;
    }

    /** Refuses the requests that have waited for too long. Their producers send them again. */
    void onTick(long nowMs) {
        while (dueMs() <= nowMs) {
            Waiting late = waiting.remove();
            Request request = late.take();
            String transactionalId = request.claim().transactionalId();
            ArrayDeque<Waiting> ofId = waitingById.get(transactionalId);
            ofId.remove(late);
            if (ofId.isEmpty()) {
                waitingById.remove(transactionalId);
            }
            request.reply().send(ErrorCode.CONCURRENT_TRANSACTIONS);
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
