package io.journalq.client.membership;

import io.journalq.client.JournalQException;
import java.util.Set;

/**
 * How the member stands to its group, as the event loop tells the consumer's thread. Immutable.
 *
 * @param memberId under which the group knows it
 * @param epoch of the member in the group; 0 before it is in
 * @param target partitions that the member may have; null when the group did not say
 * @param failure why it is {@link State#FAILED}; else null
 */
record Standing(State state, String memberId, int epoch, Set<Owned> target, JournalQException failure) {
    enum State {
        /** No member, and does not want to be one. */
        OUT,
        /** Asks to be let in. */
        JOINING,
        /** A member. */
        IN,
        /** The group went on without it; it joins again when the consumer's thread has let go of its partitions. */
        LOST,
        /** The group does not take it. */
        FAILED
    }

    static Standing out(String memberId) {
        return new Standing(State.OUT, memberId, 0, null, null);
    }

    boolean isIn() {
        return state == State.IN;
    }
}
