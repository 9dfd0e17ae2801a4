package io.journalq.server.transaction;

/** Where a transactional id is. Immutable. */
public enum TransactionState {
    /** A producer is there and has not begun a transaction. */
    EMPTY(0, "Empty"),
    /** A transaction is open. */
    ONGOING(1, "Ongoing"),
    /** It is decided that the transaction commits; partitions are being told. */
    PREPARE_COMMIT(2, "PrepareCommit"),
    /** It is decided that the transaction aborts; partitions are being told. */
    PREPARE_ABORT(3, "PrepareAbort"),
    /** The last transaction committed, and every partition knows. */
    COMPLETE_COMMIT(4, "CompleteCommit"),
    /** The last transaction aborted, and every partition knows. */
    COMPLETE_ABORT(5, "CompleteAbort"),
    /** The id is being forgotten. Known of the protocol's log; here a forgotten id is a tombstone. */
    DEAD(6, "Dead"),
    /** The producer is being fenced. Known of the protocol's log; here fencing and aborting are one record. */
    PREPARE_EPOCH_FENCE(7, "PrepareEpochFence");

    private final byte id;
    private final String stateName;

    TransactionState(int id, String stateName) {
        this.id = (byte) id;
        this.stateName = stateName;
    }

    /** The state's number in records. */
    byte id() {
        return id;
    }

    /** The state's name in the protocol. */
    public String stateName() {
        return stateName;
    }

    /** The state of a number; null when there is none. */
    static TransactionState of(byte id) {
        return id >= 0 && id < values().length ? values()[id] : null;
    }

    /** The state of a name; null when there is none. */
    static TransactionState named(String name) {
        for (TransactionState state : values()) {
            if (state.stateName.equals(name)) {
                return state;
            }
        }
        return null;
    }

    /** Decided, and not every partition knows yet. */
    boolean isPrepared() {
        return this == PREPARE_COMMIT || this == PREPARE_ABORT;
    }

    /** No transaction is open or being ended. */
    boolean isIdle() {
        return this == EMPTY || this == COMPLETE_COMMIT || this == COMPLETE_ABORT;
    }

    /** Whether a transaction's record in this state may be followed by one in {@code next}. */
    boolean canBecome(TransactionState next) {
        return switch (next) {
            case EMPTY -> isIdle();
            case ONGOING -> isIdle() || this == ONGOING;
            case PREPARE_COMMIT -> this == ONGOING;
            case PREPARE_ABORT -> isIdle() || this == ONGOING || this == PREPARE_EPOCH_FENCE;
            case COMPLETE_COMMIT -> this == PREPARE_COMMIT;
            case COMPLETE_ABORT -> this == PREPARE_ABORT;
            case PREPARE_EPOCH_FENCE -> this == ONGOING;
            case DEAD -> isIdle();
        };
    }
}
