package io.journalq.server.transaction;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.server.coordinator.Reply;
import java.util.Map;
import java.util.TreeMap;

/**
 * Starts producers (InitProducerId). A new transactional id is assigned a producer id. A known one is assigned the next
 * epoch, which fences the previous producer, and its open transaction is aborted first. A producer that sends its id
 * and epoch may continue only if it is still the newest one (KIP-360). When the epochs of a producer id are exhausted,
 * a new producer id is assigned.
 */
final class ProducerStart {
    private static final short FIRST_VERSION_WITH_FENCED = 4;

    private final TransactionalIds transactions;
    private final TransactionEnd end;
    private final ProducerIdRequests waits;
    private final TransactionLimits limits;

    /**
     * For each id, the epoch that its producer exchanged for the current one, so that a repeated request gets the same
     * response.
     */
    private final Map<String, Short> givenUpEpochs = new TreeMap<>();

    ProducerStart(
            TransactionalIds transactions, TransactionEnd end, ProducerIdRequests waits, TransactionLimits limits) {
        this.transactions = transactions;
        this.end = end;
        this.waits = waits;
        this.limits = limits;
    }

    void onInitProducerId(
            short version, InitProducerIdRequest request, long nowMs, Reply<InitProducerIdResponse> reply) {
        ErrorCode refusal = refusal(request);
        if (refusal != ErrorCode.NONE) {
            reply.send(refused(refusal));
            return;
        }
        TransactionMetadata known = transactions.get(request.transactionalId());
        if (waits.contains(request.transactionalId())) {
            reply.send(refused(ErrorCode.CONCURRENT_TRANSACTIONS));
        } else if (known == null) {
            create(request, reply);
        } else if (!isNewest(known, request)) {
            reply.send(refused(
                    version >= FIRST_VERSION_WITH_FENCED
                            ? ErrorCode.PRODUCER_FENCED
                            : ErrorCode.INVALID_PRODUCER_EPOCH));
        } else {
            restart(known, request, nowMs, reply);
        }
    }

    private ErrorCode refusal(InitProducerIdRequest request) {
        String id = request.transactionalId();
        if (id.isEmpty() || id.length() > TransactionLimits.MAX_TRANSACTIONAL_ID_LENGTH) {
            return ErrorCode.INVALID_REQUEST;
        }
        if (request.producerId() < 0 != request.producerEpoch() < 0) {
            return ErrorCode.INVALID_REQUEST;
        }
        if (request.enable2Pc()) {
            // The response of a broker that does not allow two-phase commit (KIP-939).
            return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
        }
        if (request.keepPreparedTxn()) {
            return ErrorCode.UNSUPPORTED_VERSION;
        }
        if (request.transactionTimeoutMs() <= 0 || request.transactionTimeoutMs() > limits.maxTimeoutMs()) {
            return ErrorCode.INVALID_TRANSACTION_TIMEOUT;
        }
        return ErrorCode.NONE;
    }

    private void create(InitProducerIdRequest request, Reply<InitProducerIdResponse> reply) {
        if (transactions.isFull(request.transactionalId())) {
            reply.send(refused(ErrorCode.POLICY_VIOLATION));
            return;
        }
        String id = request.transactionalId();
        int timeoutMs = request.transactionTimeoutMs();
        waits.add(id, (producerId, nowMs) -> {
            if (producerId == ProducerIdSource.NONE) {
                reply.send(refused(ErrorCode.COORDINATOR_NOT_AVAILABLE));
            } else {
                start(TransactionMetadata.create(id, producerId, timeoutMs, nowMs), reply);
            }
        });
    }

    /** Whether the producer is the current one, or sends no id and takes over the transactional id. */
    private boolean isNewest(TransactionMetadata known, InitProducerIdRequest request) {
        if (request.producerId() < 0) {
            return true;
        }
        boolean sameId = request.producerId() == known.producerId()
                || (request.producerId() == known.previousProducerId()
                        && request.producerEpoch() >= TransactionMetadata.LAST_EPOCH);
        return sameId && (isCurrent(known, request) || isRetry(known, request) || missedTheEnd(known, request));
    }

    private static boolean isCurrent(TransactionMetadata known, InitProducerIdRequest request) {
        return request.producerId() == known.producerId() && request.producerEpoch() == known.epoch();
    }

    /**
     * Whether the request exchanged its epoch for the current one before. If no producer id was available for that, the
     * epoch is still the current one, and must not be used twice: the producer restarts its sequence numbers.
     */
    private boolean isRetry(TransactionMetadata known, InitProducerIdRequest request) {
        Short givenUp = givenUpEpochs.get(known.id());
        return givenUp != null
                && givenUp == request.producerEpoch()
                && known.state() != TransactionState.ONGOING
                && !isCurrent(known, request);
    }

    /**
     * Whether the producer has the epoch in which its last transaction ended, because the response with the next one was
     * lost (KIP-890). Only that producer has it, and nobody has used the next one yet.
     */
    private static boolean missedTheEnd(TransactionMetadata known, InitProducerIdRequest request) {
        boolean ended = known.state().isPrepared()
                || known.state() == TransactionState.COMPLETE_COMMIT
                || known.state() == TransactionState.COMPLETE_ABORT;
        boolean isPrevious = request.producerId() == known.producerId() && request.producerEpoch() + 1 == known.epoch();
        boolean hadPreviousId = request.producerId() == known.previousProducerId() && known.epoch() == 0;
        return ended && known.version() == TransactionVersion.SECOND && (isPrevious || hadPreviousId);
    }

    private void restart(
            TransactionMetadata known, InitProducerIdRequest request, long nowMs, Reply<InitProducerIdResponse> reply) {
        if (known.state().isPrepared()) {
            reply.send(refused(ErrorCode.CONCURRENT_TRANSACTIONS));
            return;
        }
        boolean isAgain = request.producerId() >= 0 && (isRetry(known, request) || missedTheEnd(known, request));
        if (isAgain) {
            reply.send(given(known));
            return;
        }
        if (request.producerId() >= 0) {
            givenUpEpochs.put(known.id(), request.producerEpoch());
        } else {
            givenUpEpochs.remove(known.id());
        }
        if (known.state() == TransactionState.ONGOING) {
            end.fence(known, nowMs);
            reply.send(refused(ErrorCode.CONCURRENT_TRANSACTIONS));
        } else if (known.isExhausted()) {
            rotate(known, request.transactionTimeoutMs(), reply);
        } else {
            start(known.withNextEpoch(request.transactionTimeoutMs(), nowMs), reply);
        }
    }

    private void rotate(TransactionMetadata known, int timeoutMs, Reply<InitProducerIdResponse> reply) {
        waits.add(known.id(), (producerId, nowMs) -> {
            if (producerId == ProducerIdSource.NONE) {
                reply.send(refused(ErrorCode.COORDINATOR_NOT_AVAILABLE));
            } else {
                start(known.withNewId(producerId, timeoutMs, nowMs), reply);
            }
        });
    }

    private void start(TransactionMetadata started, Reply<InitProducerIdResponse> reply) {
        transactions.put(started);
        reply.send(given(started));
    }

    /** Forgets a transactional id. */
    void forget(String transactionalId) {
        givenUpEpochs.remove(transactionalId);
    }

    private static InitProducerIdResponse given(TransactionMetadata transaction) {
        return new InitProducerIdResponse()
                .setProducerId(transaction.producerId())
                .setProducerEpoch(transaction.epoch());
    }

    /** A response with an error and without a producer id. */
    static InitProducerIdResponse refused(ErrorCode error) {
        return new InitProducerIdResponse()
                .setErrorCode(error.code())
                .setProducerId(TransactionMetadata.NO_PRODUCER_ID)
                .setProducerEpoch((short) -1);
    }
}
