package io.journalq.server.api.transaction;

import io.journalq.common.protocol.ErrorCode;

/** Errors of transactions as clients of a version know them. */
final class Errors {
    private Errors() {}

    /** A producer that is not the newest: PRODUCER_FENCED from a version on (KIP-588), before it INVALID_PRODUCER_EPOCH. */
    static ErrorCode withFencedFrom(int firstVersion, short version, ErrorCode error) {
        return error == ErrorCode.PRODUCER_FENCED && version < firstVersion ? ErrorCode.INVALID_PRODUCER_EPOCH : error;
    }

    /** What only an abort can mend: TRANSACTION_ABORTABLE from a version on (KIP-890), before it INVALID_TXN_STATE. */
    static ErrorCode withAbortableFrom(int firstVersion, short version, ErrorCode error) {
        return error == ErrorCode.TRANSACTION_ABORTABLE && version < firstVersion ? ErrorCode.INVALID_TXN_STATE : error;
    }

    /** What a gate ({@link CoordinatorGate}) says, for a request that appends: an old epoch there is never known as fenced. */
    static ErrorCode ofGate(int firstVersionWithAbortable, short version, ErrorCode error) {
        return error == ErrorCode.PRODUCER_FENCED
                ? ErrorCode.INVALID_PRODUCER_EPOCH
                : withAbortableFrom(firstVersionWithAbortable, version, error);
    }
}
