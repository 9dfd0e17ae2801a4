package io.journalq.server.transaction;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.transaction.Markers.MarkerRequest;
import java.util.List;

/**
 * Ends transactions: on request (EndTxn), or by fencing, after a timeout or when another producer takes over. It first
 * makes the decision durable, then informs every partition, and then completes the transaction. From EndTxn version 5
 * on, each end increments the producer's epoch (KIP-890), so that a late record of the previous transaction is
 * recognized.
 */
final class TransactionEnd {
    private static final short FIRST_VERSION_WITH_FENCED = 2;
    private static final short FIRST_VERSION_WITH_EPOCHS = 5;

    private final TransactionalIds transactions;
    private final ProducerIdRequests waits;
    private final Markers markers;

    TransactionEnd(TransactionalIds transactions, ProducerIdRequests waits, Markers markers) {
        this.transactions = transactions;
        this.waits = waits;
        this.markers = markers;
    }

    void onEndTransaction(short version, EndTxnRequest request, long nowMs, Reply<EndTxnResponse> reply) {
        TransactionMetadata known = transactions.get(request.transactionalId());
        ErrorCode refusal = refusal(known, version, request);
        if (refusal != ErrorCode.NONE) {
            reply.send(refused(refusal));
        } else if (isAgain(known, version, request)) {
            onAgain(known, request, reply);
        } else if (known.state() == TransactionState.ONGOING || isEmptyAbort(version, request)) {
            end(known, version, request, nowMs, reply);
        } else {
            reply.send(refused(ErrorCode.INVALID_TXN_STATE));
        }
    }

    /** Whether {@link #onEndTransaction} would append a decision now, or as soon as there is a producer id. */
    boolean decides(short version, EndTxnRequest request) {
        TransactionMetadata known = transactions.get(request.transactionalId());
        return refusal(known, version, request) == ErrorCode.NONE
                && !isAgain(known, version, request)
                && (known.state() == TransactionState.ONGOING || isEmptyAbort(version, request));
    }

    private ErrorCode refusal(TransactionMetadata known, short version, EndTxnRequest request) {
        if (known == null) {
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING;
        }
        if (isOfTheNext(known, request)) {
            return ErrorCode.CONCURRENT_TRANSACTIONS;
        }
        boolean overflown = isAgainAfterOverflow(known, request);
        if (known.producerId() != request.producerId() && !overflown) {
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING;
        }
        if (!isEpochValid(known, version, request)) {
            return version >= FIRST_VERSION_WITH_FENCED ? ErrorCode.PRODUCER_FENCED : ErrorCode.INVALID_PRODUCER_EPOCH;
        }
        return waits.contains(known.id()) ? ErrorCode.CONCURRENT_TRANSACTIONS : ErrorCode.NONE;
    }

    /**
     * Whether the producer already received the response to the previous EndTxn, and now ends its next transaction
     * while the partitions are still being informed about the previous one. The producer must retry; it must not be
     * treated as an old instance (KAFKA-18464).
     */
    private static boolean isOfTheNext(TransactionMetadata known, EndTxnRequest request) {
        return known.state().isPrepared()
                && known.version() == TransactionVersion.SECOND
                && known.producerIdAfterwards() == request.producerId()
                && known.epochAfterwards() == request.producerEpoch();
    }

    private static boolean isEpochValid(TransactionMetadata known, short version, EndTxnRequest request) {
        boolean same = known.producerId() == request.producerId() && known.epoch() == request.producerEpoch();
        if (version < FIRST_VERSION_WITH_EPOCHS) {
            return same;
        }
        return switch (known.state()) {
            case PREPARE_COMMIT, PREPARE_ABORT -> isAgain(known, version, request);
            case COMPLETE_COMMIT, COMPLETE_ABORT -> same || isAgain(known, version, request);
            default -> same;
        };
    }

    /** Whether the request was already handled: the state is that of its outcome. */
    private static boolean isAgain(TransactionMetadata known, short version, EndTxnRequest request) {
        if (known.state() == TransactionState.ONGOING || known.state() == TransactionState.EMPTY) {
            return false;
        }
        if (version < FIRST_VERSION_WITH_EPOCHS) {
            return true;
        }
        // Only an end of the second version changes the epoch. Otherwise, another producer has taken over and has it.
        boolean bumped = known.version() == TransactionVersion.SECOND
                && known.producerId() == request.producerId()
                && known.epoch() == request.producerEpoch() + 1;
        return bumped || isAgainAfterOverflow(known, request);
    }

    private static boolean isAgainAfterOverflow(TransactionMetadata known, EndTxnRequest request) {
        return known.state().isIdle()
                && known.state() != TransactionState.EMPTY
                && known.version() == TransactionVersion.SECOND
                && known.previousProducerId() == request.producerId()
                && request.producerEpoch() == TransactionMetadata.LAST_EPOCH
                && known.epoch() == 0;
    }

    private static void onAgain(TransactionMetadata known, EndTxnRequest request, Reply<EndTxnResponse> reply) {
        boolean committed =
                known.state() == TransactionState.PREPARE_COMMIT || known.state() == TransactionState.COMPLETE_COMMIT;
        if (committed != request.committed()) {
            reply.send(refused(ErrorCode.INVALID_TXN_STATE));
        } else if (known.state().isPrepared()) {
            reply.send(refused(ErrorCode.CONCURRENT_TRANSACTIONS));
        } else {
            reply.send(ended(known));
        }
    }

    /**
     * Whether the request aborts without a transaction. A producer of transaction version 2 cannot know whether any of
     * its records arrived, so it may abort.
     */
    private static boolean isEmptyAbort(short version, EndTxnRequest request) {
        return version >= FIRST_VERSION_WITH_EPOCHS && !request.committed();
    }

    private void end(
            TransactionMetadata known, short version, EndTxnRequest request, long nowMs, Reply<EndTxnResponse> reply) {
        boolean commit = request.committed();
        if (version < FIRST_VERSION_WITH_EPOCHS) {
            TransactionMetadata decided = known.decided(
                    commit, known.epoch(), TransactionMetadata.NO_PRODUCER_ID, TransactionVersion.FIRST, nowMs);
            decide(decided, nowMs, reply);
        } else if (known.isExhausted()) {
            waits.add(known.id(), (producerId, laterMs) -> {
                if (producerId == ProducerIdSource.NONE) {
                    reply.send(refused(ErrorCode.COORDINATOR_NOT_AVAILABLE));
                } else {
                    decide(
                            known.decided(commit, nextEpoch(known), producerId, TransactionVersion.SECOND, laterMs),
                            laterMs,
                            reply);
                }
            });
        } else {
            TransactionMetadata decided = known.decided(
                    commit, nextEpoch(known), TransactionMetadata.NO_PRODUCER_ID, TransactionVersion.SECOND, nowMs);
            decide(decided, nowMs, reply);
        }
    }

    private void decide(TransactionMetadata decided, long nowMs, Reply<EndTxnResponse> reply) {
        transactions.put(decided);
        reply.send(ended(decided));
        announce(decided, nowMs);
    }

    /** Aborts an open transaction with an epoch that its producer does not have. */
    void fence(TransactionMetadata open, long nowMs) {
        if (!open.isExhausted()) {
            TransactionMetadata decided =
                    open.decided(false, nextEpoch(open), TransactionMetadata.NO_PRODUCER_ID, open.version(), nowMs);
            transactions.put(decided);
            announce(decided, nowMs);
            return;
        }
        waits.add(open.id(), (producerId, laterMs) -> {
            // Without an id the transaction stays open until its end is requested again.
            if (producerId != ProducerIdSource.NONE) {
                TransactionMetadata decided = open.decided(false, nextEpoch(open), producerId, open.version(), laterMs);
                transactions.put(decided);
                announce(decided, laterMs);
            }
        });
    }

    private static short nextEpoch(TransactionMetadata transaction) {
        return (short) Math.min(transaction.epoch() + 1, Short.MAX_VALUE);
    }

    /** Informs the partitions of a decision as soon as it is safe. */
    void announce(TransactionMetadata decided, long nowMs) {
        if (decided.partitions().isEmpty()) {
            transactions.put(decided.completed(nowMs));
            return;
        }
        MarkerRequest request = new MarkerRequest(
                decided.id(),
                decided.producerId(),
                decided.epoch(),
                decided.state() == TransactionState.PREPARE_COMMIT,
                decided.version(),
                List.copyOf(decided.partitions()));
        transactions.whenSafe(() -> markers.write(request));
    }

    /** Completes the transaction once all partitions have markers; returns whether it was not complete before. */
    boolean onMarkersWritten(String transactionalId, long producerId, short producerEpoch, long nowMs) {
        TransactionMetadata known = transactions.get(transactionalId);
        if (!isDecided(known, producerId, producerEpoch)) {
            return false;
        }
        transactions.put(known.completed(nowMs));
        return true;
    }

    /** Requests the markers of a decided transaction again, unless it is complete. */
    void onMarkersMissing(String transactionalId, long producerId, short producerEpoch, long nowMs) {
        TransactionMetadata known = transactions.get(transactionalId);
        if (isDecided(known, producerId, producerEpoch)) {
            announce(known, nowMs);
        }
    }

    private static boolean isDecided(TransactionMetadata known, long producerId, short producerEpoch) {
        return known != null
                && known.state().isPrepared()
                && known.producerId() == producerId
                && known.epoch() == producerEpoch;
    }

    private static EndTxnResponse ended(TransactionMetadata transaction) {
        return new EndTxnResponse()
                .setProducerId(transaction.producerIdAfterwards())
                .setProducerEpoch(transaction.epochAfterwards());
    }

    private static EndTxnResponse refused(ErrorCode error) {
        return new EndTxnResponse().setErrorCode(error.code());
    }
}
