package io.journalq.server.api.transaction;

import io.journalq.common.protocol.ErrorCode;

/** Converts errors of transactions to those that the version of a request knows. */
final class TransactionErrors {
    private TransactionErrors() {}

    /**
     * The error of a fenced producer: PRODUCER_FENCED from {@code firstVersion} (KIP-588), INVALID_PRODUCER_EPOCH
     * before.
     */
    static ErrorCode withFencedFrom(int firstVersion, short version, ErrorCode error) {
        return error == ErrorCode.PRODUCER_FENCED && version < firstVersion ? ErrorCode.INVALID_PRODUCER_EPOCH : error;
    }

    /**
     * The error of a transaction that must be aborted: TRANSACTION_ABORTABLE from {@code firstVersion} (KIP-890),
     * INVALID_TXN_STATE before.
     */
    static ErrorCode withAbortableFrom(int firstVersion, short version, ErrorCode error) {
        return error == ErrorCode.TRANSACTION_ABORTABLE && version < firstVersion ? ErrorCode.INVALID_TXN_STATE : error;
    }

    /**
     * The error of a {@link CoordinatorGate}, for a request that appends. An old epoch is INVALID_PRODUCER_EPOCH in
     * every version.
     */
    static ErrorCode ofGate(int firstVersionWithAbortable, short version, ErrorCode error) {
        return error == ErrorCode.PRODUCER_FENCED
                ? ErrorCode.INVALID_PRODUCER_EPOCH
                : withAbortableFrom(firstVersionWithAbortable, version, error);
    }
}
