package io.journalq.server.broker;

import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataLog.QuorumState;
import io.journalq.server.control.MetadataLog.VoterState;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.observe.BrokerMetrics;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** What the newest metadata say about the cluster, counted once for each image. Any thread. */
final class ClusterMetrics {
    private final int nodeId;
    private final Supplier<MetadataImage> images;
    private final Controller controller;
    private volatile Counts last = new Counts(MetadataImage.EMPTY, 0, 0, 0, 0, 0);

    /** The counts of an image. */
    private record Counts(
            MetadataImage image, long led, long underReplicated, long leaderless, long moving, long fencedBrokers) {}

    ClusterMetrics(int nodeId, Supplier<MetadataImage> images, Controller controller) {
        this.nodeId = nodeId;
        this.images = images;
        this.controller = controller;
    }

    /** Adds the metrics. Called once. */
    void bind(BrokerMetrics metrics) {
        gauge(metrics, "journalq.partitions.led", "Partitions that this broker leads.", Counts::led);
        gauge(
                metrics,
                "journalq.partitions.under.replicated",
                "Partitions that this broker leads, with replicas that are not in sync.",
                Counts::underReplicated);
        gauge(
                metrics,
                "journalq.partitions.leaderless",
                "Partitions of the whole cluster without a leader, as far as this broker knows.",
                Counts::leaderless);
        gauge(
                metrics,
                "journalq.partitions.moving",
                "Partitions of the whole cluster that move to other brokers, as far as this broker knows.",
                Counts::moving);
        gauge(
                metrics,
                "journalq.brokers.fenced",
                "Brokers of the cluster that serve no clients, as far as this broker knows.",
                Counts::fencedBrokers);
        metrics.gauge(
                "journalq.controller.active",
                "1 if this broker is the controller, otherwise 0.",
                () -> controller.members().leaderId() == nodeId ? 1 : 0);
        metrics.gauge(
                "journalq.quorum.lag.entries",
                "Entries of the metadata log that the voter which is behind most does not have. Only on the controller,"
                        + " otherwise 0.",
                this::quorumLag);
    }

    private void gauge(BrokerMetrics metrics, String name, String description, ToLongFunction<Counts> count) {
        metrics.gauge(name, description, () -> count.applyAsLong(counts()));
    }

    private long quorumLag() {
        QuorumState state = controller.quorumState();
        if (state == null) {
            return 0;
        }
        long end = state.voters().stream()
                .mapToLong(VoterState::logEndOffset)
                .max()
                .orElse(0);
        return state.voters().stream()
                .filter(voter -> voter.logEndOffset() >= 0)
                .mapToLong(voter -> end - voter.logEndOffset())
                .max()
                .orElse(0);
    }

    private Counts counts() {
        MetadataImage image = images.get();
        Counts known = last;
        if (known.image() != image) {
            known = count(image);
            last = known;
        }
        return known;
    }

    private Counts count(MetadataImage image) {
        long led = 0;
        long underReplicated = 0;
        long leaderless = 0;
        long moving = 0;
        for (TopicImage topic : image.topics()) {
            for (PartitionImage partition : topic.partitions()) {
                boolean leads = partition.leader() == nodeId;
                led += leads ? 1 : 0;
                underReplicated += leads
                                && partition.inSyncReplicas().size()
                                        < partition.replicas().size()
                        ? 1
                        : 0;
                leaderless += partition.hasLeader() ? 0 : 1;
                moving += partition.reassignment().isInProgress() ? 1 : 0;
            }
        }
        long fenced =
                image.brokers().stream().filter(broker -> !broker.isLive()).count();
        return new Counts(image, led, underReplicated, leaderless, moving, fenced);
    }
}
