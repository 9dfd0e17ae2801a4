package io.journalq.quorum;

import io.journalq.server.control.MetadataLog.Role;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * The role of this broker in the metadata quorum, and the listener for its changes. The role of a log that has failed
 * does not change any more.
 *
 * <p>Any thread. The listener is called by the thread that changes the role, one call at a time. Ratis is not called
 * while the role changes.
 */
final class QuorumRole {
    private Consumer<Role> listener = role -> {};
    private volatile Role role = Role.FOLLOWING;
    private volatile int term;
    private volatile IOException failure;

    /** Sets the listener. Called before the first change. */
    void onChange(Consumer<Role> roleListener) {
        listener = roleListener;
    }

    boolean isLeading() {
        return role == Role.LEADING;
    }

    boolean hasFailed() {
        return failure != null;
    }

    /** The term of the newest leadership of this broker. */
    int term() {
        return term;
    }

    /** This broker leads in a term, which has begun. */
    synchronized void lead(int newTerm) {
        if (role == Role.FAILED) {
            return;
        }
        term = newTerm;
        role = Role.LEADING;
        listener.accept(Role.LEADING);
    }

    /** This broker does not lead any more. */
    void follow() {
        followAfter(term);
    }

    /** Ends the leadership of {@code endedTerm}, and not that of a later term. */
    synchronized void followAfter(int endedTerm) {
        if (role == Role.LEADING && term == endedTerm) {
            role = Role.FOLLOWING;
            listener.accept(Role.FOLLOWING);
        }
    }

    /** The log has failed. */
    synchronized void fail(IOException reason) {
        failure = reason;
        role = Role.FAILED;
        listener.accept(Role.FAILED);
    }

    /** Why this broker accepts no proposals. */
    IOException refusal() {
        IOException reason = failure;
        return reason != null
                ? new IOException("the metadata log has failed: " + reason.getMessage(), reason)
                : new IOException("this broker does not lead the metadata quorum");
    }
}
