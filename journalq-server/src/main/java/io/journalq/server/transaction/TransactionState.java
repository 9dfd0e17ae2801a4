package io.journalq.server.transaction;

/** The state of a transactional id. Immutable. */
public enum TransactionState {
    /** The producer has not begun a transaction. */
    EMPTY(0, "Empty"),
    /** A transaction is open. */
    ONGOING(1, "Ongoing"),
    /** The commit is decided, and partitions are being informed. */
    PREPARE_COMMIT(2, "PrepareCommit"),
    /** The abort is decided, and partitions are being informed. */
    PREPARE_ABORT(3, "PrepareAbort"),
    /** The last transaction committed, and all partitions have their markers. */
    COMPLETE_COMMIT(4, "CompleteCommit"),
    /** The last transaction aborted, and all partitions have their markers. */
    COMPLETE_ABORT(5, "CompleteAbort"),
    /** The id is being removed. Only in Kafka's log; here a removed id is a tombstone. */
    DEAD(6, "Dead"),
    /** The producer is being fenced. Only in Kafka's log; here one record fences and aborts. */
    PREPARE_EPOCH_FENCE(7, "PrepareEpochFence");

    private final byte id;
    private final String stateName;

    TransactionState(int id, String stateName) {
        this.id = (byte) id;
        this.stateName = stateName;
    }

    /** Number of the state in records. */
    byte id() {
        return id;
    }

    /** Name of the state in the protocol. */
    public String stateName() {
        return stateName;
    }

    /** The state with this number; null if there is none. */
    static TransactionState of(byte id) {
        return id >= 0 && id < values().length ? values()[id] : null;
    }

    /** The state with this name; null if there is none. */
    static TransactionState named(String name) {
        for (TransactionState state : values()) {
            if (state.stateName.equals(name)) {
                return state;
            }
        }
        return null;
    }

    /** The outcome is decided, and not all partitions have their markers. */
    boolean isPrepared() {
        return this == PREPARE_COMMIT || this == PREPARE_ABORT;
    }

    /** No transaction is open or ending. */
    boolean isIdle() {
        return this == EMPTY || this == COMPLETE_COMMIT || this == COMPLETE_ABORT;
    }

    /** Whether a record in this state may be followed by one in {@code next}. */
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
