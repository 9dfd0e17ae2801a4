package io.journalq.server.group.consumer;

import io.journalq.server.group.consumer.assignor.Assignment;

/**
 * The progress of a member towards its target. Immutable.
 *
 * @param memberEpoch the member's epoch; {@link #STATIC_LEFT_EPOCH} while a static member is away
 * @param previousMemberEpoch the epoch before that, which the member sends if it missed a response
 * @param assigned partitions that it may use
 * @param pendingRevocation partitions that it still owns and must revoke before it continues
 */
record CurrentAssignment(
        int memberEpoch, int previousMemberEpoch, State state, Assignment assigned, Assignment pendingRevocation) {
    /** A static member that left and will return. */
    static final int STATIC_LEFT_EPOCH = -2;
    /** A member that leaves permanently. */
    static final int LEAVE_EPOCH = -1;
    /** A member that has just joined. */
    static final CurrentAssignment JOINING =
            new CurrentAssignment(0, 0, State.STABLE, Assignment.EMPTY, Assignment.EMPTY);

    /** What a member waits for. */
    enum State {
        /** The member has reached its target. */
        STABLE(0),
        /** The member must revoke partitions. */
        UNREVOKED_PARTITIONS(1),
        /** Other members must revoke partitions that are assigned to this member. */
        UNRELEASED_PARTITIONS(2);

        private final byte number;

        State(int number) {
            this.number = (byte) number;
        }

        /** Number of the state in records. */
        byte number() {
            return number;
        }

        /** The state for a number; an unknown number counts as stable. */
        static State of(byte number) {
            for (State state : values()) {
                if (state.number == number) {
                    return state;
                }
            }
            return STABLE;
        }
    }

    /** All partitions that no other member may have. */
    Assignment owned() {
        return assigned.union(pendingRevocation);
    }

    /** The member has closed its consumer, so it has revoked what it had to. */
    CurrentAssignment awayForAWhile() {
        State left = state == State.UNREVOKED_PARTITIONS ? State.STABLE : state;
        return new CurrentAssignment(STATIC_LEFT_EPOCH, memberEpoch, left, assigned, Assignment.EMPTY);
    }
}
