package io.journalq.server.metadata.partition;

import java.util.List;

/**
 * A change of the replicas of a partition that is in progress (KIP-455). Immutable.
 *
 * @param adding nodes that have to catch up before the others leave
 * @param removing nodes that leave when those have caught up
 */
public record Reassignment(List<Integer> adding, List<Integer> removing) {
    /** The replicas do not change. */
    public static final Reassignment NONE = new Reassignment(List.of(), List.of());

    public Reassignment {
        adding = List.copyOf(adding);
        removing = List.copyOf(removing);
    }

    /** Whether the replicas change. */
    public boolean isInProgress() {
        return !adding.isEmpty() || !removing.isEmpty();
    }
}
