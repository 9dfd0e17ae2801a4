package io.journalq.client.internal.membership;

import io.journalq.client.error.JournalQException;
import io.journalq.common.id.Uuid;
import java.util.Set;

/**
 * The state of a membership. The event loop publishes it to the thread of the consumer. Immutable.
 *
 * @param memberId the id of the member
 * @param epoch the epoch of the member; 0 before it has joined
 * @param target the assigned partitions; null if the group has not assigned any yet
 * @param takenBack how often the group has taken assigned partitions back. The thread of the consumer has to notice it
 *     even if it has not seen that they were assigned
 * @param failure the reason for {@link State#FAILED}, otherwise null
 */
record MembershipState(
        State state,
        String memberId,
        int epoch,
        Set<TopicIdPartition> target,
        int takenBack,
        JournalQException failure) {
    /**
     * A partition of a topic id, as the consumer group protocol identifies it. A topic that is deleted and created
     * again has a new id.
     */
    record TopicIdPartition(Uuid topicId, int partition) {}

    enum State {
        /** Not a member, and not joining. */
        OUT,
        /** Has asked to join. */
        JOINING,
        /** A member. */
        IN,
        /** No longer a member. Joins again when the thread of the consumer has dropped its partitions. */
        LOST,
        /** The group has rejected the member. */
        FAILED
    }

    static MembershipState out(String memberId) {
        return new MembershipState(State.OUT, memberId, 0, null, 0, null);
    }

    boolean isIn() {
        return state == State.IN;
    }
}
