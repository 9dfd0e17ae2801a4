package io.journalq.server.metadata;

/**
 * The broker that decides on the metadata, and the term in which the quorum has elected it. Immutable.
 *
 * @param nodeId -1 if no quorum has elected one
 */
public record ActiveController(int nodeId, int term) {
    /** A broker that is alone decides without an election. */
    static final ActiveController NONE = new ActiveController(-1, 0);

    /** Whether a quorum has elected a controller, now or before. */
    public boolean isElected() {
        return !equals(NONE);
    }
}
