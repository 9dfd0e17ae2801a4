package io.journalq.sim.check;

import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.sim.cluster.ClusterPartition;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The power losses of a cluster, and which records they may have taken from a partition with several replicas: those that
 * a machine had written shortly before, if an epoch of the partition has begun with what such a machine had left. That
 * happens only when all replicas that were in sync or eligible last have lost power.
 */
public final class PowerLosses {
    private final Supplier<MetadataImage> metadata;
    private final long boundMs;
    private final List<Loss> losses = new ArrayList<>();

    /** @param names the partitions that had a replica on the broker */
    private record Loss(Set<String> names, long servedUntilMs, long atMs) {}

    /**
     * Begins without losses.
     *
     * @param metadata the newest committed metadata
     * @param boundMs how old records are that a power loss cannot take in delivery mode {@code eventual}
     */
    public PowerLosses(Supplier<MetadataImage> metadata, long boundMs) {
        this.metadata = metadata;
        this.boundMs = boundMs;
    }

    /**
     * The machine of a broker loses power.
     *
     * @param servedUntilMs when the broker last served clients
     */
    public void add(int broker, long servedUntilMs, long nowMs) {
        Set<String> names = new HashSet<>();
        for (TopicImage topic : metadata.get().topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                if (topic.partitions().get(number).replicas().contains(broker)) {
                    names.add(topic.name() + "-" + number);
                }
            }
        }
        losses.add(new Loss(names, servedUntilMs, nowMs));
    }

    /**
     * Whether a record may be lost.
     *
     * @param firstMs when it was first acknowledged or seen: it had been written before
     */
    boolean mayHaveTaken(ClusterPartition partition, long firstMs) {
        TopicImage topic = metadata.get().topic(partition.topic());
        if (topic == null || !topic.hasPartition(partition.partition())) {
            return false;
        }
        PartitionImage state = topic.partitions().get(partition.partition());
        return state.recoveryEpoch() != PartitionImage.NO_RECOVERY
                && losses.stream()
                        .anyMatch(loss -> loss.names().contains(partition.name())
                                && firstMs <= loss.atMs()
                                && firstMs > loss.servedUntilMs() - boundMs);
    }
}
