package io.journalq.sim.metadata;

/**
 * The size of a simulated cluster. Immutable.
 *
 * @param brokers number of brokers, a multiple of {@code racks}, so that all racks have equally many
 * @param racks number of racks, at least {@link #REPLICATION_FACTOR}
 * @param partitions number of partitions of all topics together
 * @param observers number of brokers, besides the voters, that replay the metadata log
 */
public record MetadataPlan(int brokers, int racks, int partitions, int observers, long seed) {
    /** Number of replicas of each partition. */
    public static final int REPLICATION_FACTOR = 3;

    /** Number of brokers that vote on the metadata log. */
    public static final int VOTERS = 3;
}
