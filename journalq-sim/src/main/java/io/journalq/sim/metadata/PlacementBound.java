package io.journalq.sim.metadata;

import io.journalq.sim.metadata.MetadataResult.Spread;
import java.util.List;

/**
 * How evenly the placement must spread new topics over {@code N} brokers, in racks of the same size.
 *
 * <p>Among {@code N} successive partitions of a topic, each broker leads exactly one, and is the follower in each position
 * of exactly one: the distance from a leader to its followers is the same for all of them. So whole rounds of {@code N}
 * partitions are spread evenly. A topic with {@code P} partitions has {@code P mod N} more. The topic's id determines
 * which brokers lead these, so a broker leads one of them with probability {@code p = (P mod N) / N}, and each follower
 * position adds one with the same probability. The sum over all topics has the variance {@code Σ p (1 - p)} for leaders,
 * and at most the square of the replication factor times that for replicas. The bound is six standard deviations: one
 * broker in 500 million would exceed it by chance.
 */
final class PlacementBound {
    private static final double DEVIATIONS = 6;

    private final double meanLeaders;
    private final double deviation;

    /**
     * Computes the bound.
     *
     * @param sizes number of partitions of each topic
     */
    PlacementBound(List<Integer> sizes, int brokers) {
        double mean = 0;
        double variance = 0;
        for (int size : sizes) {
            double share = (double) (size % brokers) / brokers;
            mean += (double) size / brokers;
            variance += share * (1 - share);
        }
        this.meanLeaders = mean;
        this.deviation = Math.sqrt(variance);
    }

    /** The fewest leaders of a broker that are allowed. */
    int fewestLeaders() {
        return (int) Math.floor(meanLeaders - DEVIATIONS * deviation);
    }

    /** The most leaders of a broker that are allowed. */
    int mostLeaders() {
        return (int) Math.ceil(meanLeaders + DEVIATIONS * deviation);
    }

    int fewestReplicas() {
        return fewestLeaders() * MetadataPlan.REPLICATION_FACTOR;
    }

    int mostReplicas() {
        return mostLeaders() * MetadataPlan.REPLICATION_FACTOR;
    }

    /** Why a spread is not even enough; null if it is. */
    String problem(Spread spread) {
        boolean isEven = spread.fewestLeaders() >= fewestLeaders()
                && spread.mostLeaders() <= mostLeaders()
                && spread.fewestReplicas() >= fewestReplicas()
                && spread.mostReplicas() <= mostReplicas();
        return isEven
                ? null
                : spread + " is outside " + fewestLeaders() + " to " + mostLeaders() + " leaders and "
                        + fewestReplicas() + " to " + mostReplicas() + " replicas";
    }
}
