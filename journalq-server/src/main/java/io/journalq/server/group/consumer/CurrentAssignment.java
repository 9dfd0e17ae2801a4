package io.journalq.server.group.consumer;

import io.journalq.server.group.consumer.assignor.Assignment;

/**
 * Where a member is on the way to its target. Immutable.
 *
 * @param memberEpoch the epoch that it is in; {@link #STATIC_LEFT_EPOCH} while a static member is away
 * @param previousMemberEpoch the one before, which it sends when it missed an answer
 * @param assigned what it may use
 * @param pendingRevocation what it must give up before it goes on; still its own
 */
record CurrentAssignment(
        int memberEpoch, int previousMemberEpoch, State state, Assignment assigned, Assignment pendingRevocation) {
    /** A static member left and will come back. */
    static final int STATIC_LEFT_EPOCH = -2;
    /** A member leaves for good. */
    static final int LEAVE_EPOCH = -1;
    /** A member that has just joined. */
    static final CurrentAssignment JOINING =
            new CurrentAssignment(0, 0, State.STABLE, Assignment.EMPTY, Assignment.EMPTY);

    /** What a member waits for. */
    enum State {
        /** For nothing. */
        STABLE(0),
        /** For itself to give up partitions. */
        UNREVOKED_PARTITIONS(1),
        /** For others to give up partitions. */
        UNRELEASED_PARTITIONS(2);

        private final byte number;

        State(int number) {
            this.number = (byte) number;
        }

        /** Its number in records. */
        byte number() {
            return number;
        }

        /** The state of that number; one that this release does not know is as good as stable. */
        static State of(byte number) {
            for (State state : values()) {
                if (state.number == number) {
                    return state;
                }
            }
            return STABLE;
        }
    }

    /** All partitions that nobody else may have. */
    Assignment owned() {
        return assigned.union(pendingRevocation);
    }

    CurrentAssignment awayForAWhile() {
        return new CurrentAssignment(STATIC_LEFT_EPOCH, memberEpoch, state, assigned, pendingRevocation);
    }
}
