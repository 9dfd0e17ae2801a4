package io.journalq.server.group.consumer;

import io.journalq.server.group.consumer.CurrentAssignment.State;
import io.journalq.server.group.consumer.assignor.Assignment;

/**
 * Computes the next step of a member towards its target (KIP-848): it first revokes partitions, and then gets the ones
 * that are free. Pure functions.
 */
final class Reconciliation {
    private Reconciliation() {}

    /**
     * The partitions that a member reports as in use. Only queried for membership, so that a large claim uses no more
     * memory than its bytes.
     */
    interface Claim {
        /** The member did not report its partitions. */
        Claim UNKNOWN = partitions -> !partitions.isEmpty();
        /** The member uses no partitions. */
        Claim NOTHING = partitions -> false;

        /** Whether the member uses, or may use, one of {@code partitions}. */
        boolean usesAnyOf(Assignment partitions);
    }

    /**
     * The state that follows {@code current}.
     *
     * @param targetEpoch epoch of {@code target}
     * @param isFree whether a partition has no owner other than this member
     */
    static CurrentAssignment next(
            CurrentAssignment current, int targetEpoch, Assignment target, Claim claim, Assignment.Filter isFree) {
        if (current.state() == State.UNREVOKED_PARTITIONS && claim.usesAnyOf(current.pendingRevocation())) {
            return current;
        }
        if (current.state() == State.STABLE && current.memberEpoch() == targetEpoch) {
            return current;
        }
        Assignment toRevoke = current.assigned().minus(target);
        Assignment kept = current.assigned().intersection(target);
        if (!toRevoke.isEmpty() && claim.usesAnyOf(toRevoke)) {
            return at(current, current.memberEpoch(), State.UNREVOKED_PARTITIONS, kept, toRevoke);
        }
        Assignment missing = target.minus(kept);
        Assignment free = missing.filter(isFree);
        State state = free.size() < missing.size() ? State.UNRELEASED_PARTITIONS : State.STABLE;
        return at(current, targetEpoch, state, kept.union(free), Assignment.EMPTY);
    }

    private static CurrentAssignment at(
            CurrentAssignment current, int epoch, State state, Assignment assigned, Assignment pending) {
        int previous = epoch == current.memberEpoch() ? current.previousMemberEpoch() : current.memberEpoch();
        CurrentAssignment next = new CurrentAssignment(epoch, previous, state, assigned, pending);
        return next.equals(current) ? current : next;
    }
}
