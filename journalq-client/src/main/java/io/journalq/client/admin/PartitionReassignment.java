package io.journalq.client.admin;

import java.util.List;

/**
 * The replicas of a partition that is moving to other brokers. Immutable.
 *
 * @param replicas ids of all brokers that have a replica at the moment
 * @param adding those that have to catch up before the others leave
 * @param removing those that leave when these have caught up
 */
public record PartitionReassignment(List<Integer> replicas, List<Integer> adding, List<Integer> removing) {
    public PartitionReassignment {
        replicas = List.copyOf(replicas);
        adding = List.copyOf(adding);
        removing = List.copyOf(removing);
    }
}
