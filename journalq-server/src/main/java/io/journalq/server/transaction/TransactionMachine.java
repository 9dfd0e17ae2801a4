package io.journalq.server.transaction;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeTransactionsResponse;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.ListTransactionsRequest;
import io.journalq.common.protocol.message.ListTransactionsResponse;
import io.journalq.server.coordinator.BoundedPattern;
import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.coordinator.RetentionTime;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.transaction.Markers.MarkerRequest;
import java.util.List;

/**
 * Coordinates the transactions of all transactional ids of one partition of the internal topic, in both versions of the
 * protocol (KIP-98, and the second part of KIP-890). The version of each request determines the version of the
 * protocol, and a producer may mix them (KIP-1228).
 *
 * <p>One thread, that of its host.
 */
public final class TransactionMachine implements CoordinatorMachine {
    /** Time between attempts to abort a transaction that waits for a producer id. */
    private static final long RETRY_MS = 100;

    private final RetentionTime retentionTime;
    private final TransactionalIds transactions;
    private final ProducerIdRequests waits;
    private final TransactionEnd end;
    private final ProducerStart start;
    private final TransactionParticipants partitions;
    private final TransactionQueries queries;

    /**
     * Creates a machine without state.
     *
     * @param retentionTime determines when transactional ids expire
     * @param memory charged with transactional ids
     */
    public TransactionMachine(
            Outbox outbox,
            Markers markers,
            ProducerIdSource producerIds,
            TransactionLimits limits,
            RetentionTime retentionTime,
            MemoryAccount memory) {
        this.retentionTime = retentionTime;
        transactions = new TransactionalIds(outbox, limits, memory);
        waits = new ProducerIdRequests(producerIds);
        end = new TransactionEnd(transactions, waits, markers);
        start = new ProducerStart(transactions, end, waits, limits);
        partitions = new TransactionParticipants(transactions, waits);
        queries = new TransactionQueries(transactions);
    }

    @Override
    public void replay(CoordinatorRecord record) {
        transactions.replay(record);
    }

    /**
     * Requests all markers of decided transactions again, because some partitions may not have received theirs before
     * the restart.
     */
    @Override
    public void onLoaded(long nowMs) {
        transactions.limitStarts(nowMs);
        List<TransactionMetadata> decided = transactions.all().stream()
                .filter(transaction -> transaction.state().isPrepared())
                .toList();
        decided.forEach(transaction -> end.announce(transaction, nowMs));
    }

    @Override
    public long onTick(long nowMs) {
        partitions.onTick(nowMs);
        if (dueMs() > nowMs) {
            return dueMs();
        }
        for (TransactionMetadata due : transactions.timedOut(nowMs)) {
            if (!waits.contains(due.id())) {
                end.fence(due, nowMs);
            }
        }
        for (TransactionMetadata idle : transactions.expired(retentionTime.at(nowMs))) {
            if (!waits.contains(idle.id())) {
                transactions.remove(idle);
                start.forget(idle.id());
            }
        }
        return Math.max(dueMs(), nowMs + RETRY_MS);
    }

    private long dueMs() {
        return Math.min(transactions.dueMs(), partitions.dueMs());
    }

    /** A producer starts or restarts (InitProducerId 0 to 6, with a transactional id). */
    public void onInitProducerId(
            short version, InitProducerIdRequest request, long nowMs, Reply<InitProducerIdResponse> reply) {
        start.onInitProducerId(version, request, nowMs, reply);
    }

    /** The result of {@link ProducerIdSource#request}: an id, or {@link ProducerIdSource#NONE}. */
    public void onProducerId(String transactionalId, long producerId, long nowMs) {
        waits.onProducerId(transactionalId, producerId, nowMs);
    }

    /**
     * Adds partitions to the producer's transaction, which begins with the first of them (AddPartitionsToTxn,
     * AddOffsetsToTxn). Replies INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS or NONE.
     */
    public void onAddPartitions(
            ProducerClaim claim,
            List<TopicPartition> added,
            short transactionVersion,
            long nowMs,
            Reply<ErrorCode> reply) {
        partitions.add(claim, added, transactionVersion, nowMs, reply);
    }

    /**
     * The same for records and offsets that are sent with transaction version 2. The reply waits for a moment while the
     * previous transaction is ending.
     */
    public void onProduce(ProducerClaim claim, List<TopicPartition> added, long nowMs, Reply<ErrorCode> reply) {
        partitions.addWhenEnded(claim, added, TransactionVersion.SECOND, nowMs, reply);
    }

    /** Checks whether partitions are part of the transaction; TRANSACTION_ABORTABLE if not (KIP-890, first part). */
    public void onVerify(ProducerClaim claim, List<TopicPartition> expected, Reply<ErrorCode> reply) {
        partitions.verify(claim, expected, reply);
    }

    /** The producer commits or aborts (EndTxn 0 to 5). */
    public void onEndTransaction(short version, EndTxnRequest request, long nowMs, Reply<EndTxnResponse> reply) {
        end.onEndTransaction(version, request, nowMs, reply);
    }

    /**
     * Whether {@link #onEndTransaction} decides about a transaction, which appends a record. Otherwise its reply
     * follows from the state, which must be the newest.
     */
    public boolean decides(short version, EndTxnRequest request) {
        return end.decides(version, request);
    }

    /** Every partition of a {@link MarkerRequest} has its marker, or no longer exists. */
    public void onMarkersWritten(String transactionalId, long producerId, short producerEpoch, long nowMs) {
        if (end.onMarkersWritten(transactionalId, producerId, producerEpoch, nowMs)) {
            partitions.onCompleted(transactionalId, nowMs);
        }
    }

    /** The markers of a {@link MarkerRequest} are not written any more. Requests them again if they are needed. */
    public void onMarkersMissing(String transactionalId, long producerId, short producerEpoch, long nowMs) {
        end.onMarkersMissing(transactionalId, producerId, producerEpoch, nowMs);
    }

    /** Describes a transactional id; TRANSACTIONAL_ID_NOT_FOUND if it is unknown. */
    public DescribeTransactionsResponse.TransactionState describe(String transactionalId) {
        return queries.describe(transactionalId);
    }

    /**
     * The transactions that match a request's filters.
     *
     * @param idPattern pattern that whole ids must match; null to match all
     */
    public List<ListTransactionsResponse.TransactionState> list(
            ListTransactionsRequest request, BoundedPattern idPattern, long nowMs) {
        return queries.list(request, idPattern, nowMs);
    }

    /** Whether the protocol has a state with this name. */
    public static boolean knowsState(String name) {
        return TransactionState.named(name) != null;
    }

    /**
     * The identity of the producer that sends a request, as it claims.
     *
     * @param transactionalId the transactional id
     * @param producerId the producer id
     * @param producerEpoch the producer epoch
     */
    public record ProducerClaim(String transactionalId, long producerId, short producerEpoch) {}
}
