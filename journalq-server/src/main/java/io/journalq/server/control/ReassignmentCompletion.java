package io.journalq.server.control;

import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.PartitionDecider;
import io.journalq.server.metadata.PartitionDecider.ConfirmedReassignment;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.IntToLongFunction;
import java.util.function.LongSupplier;

/**
 * Ends reassignments: the old replicas leave when the target replicas are in sync, and when each of those has shown since
 * then that it is alive. A broker counts as live until it is fenced. Without that confirmation, a partition could be left
 * to brokers that have just lost power or their files, and the others would delete the last copies.
 *
 * <p>Called in the terms of this controller only, and by one thread at a time.
 */
final class ReassignmentCompletion {
    /** Time between two looks at the reassignments. */
    private static final long CHECK_MS = 100;
    /** Maximum number of reassignments that end together. */
    private static final int MAX_REASSIGNMENTS = 10_000;

    private static final long NONE_SEEN = -1;

    private final LongSupplier nowMs;
    private final IntToLongFunction metadataOffset;
    private final Function<Function<PartitionDecider, Decision>, CompletableFuture<Outcome>> changes;
    /** Partitions whose target replicas are in sync, and the metadata in which they were seen first. */
    private Map<ConfirmedReassignment, Waiting> waiting = new LinkedHashMap<>();

    private long nextCheckMs;
    /** The metadata in which reassignments were looked for last. */
    private volatile long seenVersion = NONE_SEEN;
    /** Completed when the last reassignments have ended. */
    private CompletableFuture<?> round = CompletableFuture.completedFuture(null);

    /**
     * A partition that waits for its target replicas.
     *
     * @param version number of metadata records that a broker has to know
     * @param nodes the target replicas that are in sync
     */
    private record Waiting(long version, List<Integer> nodes) {}

    /**
     * Creates an instance.
     *
     * @param nowMs a clock that never goes back
     * @param metadataOffset number of metadata records that a broker has applied, as its last heartbeat said
     * @param changes runs a decision, and completes when its records are applied
     */
    ReassignmentCompletion(
            LongSupplier nowMs,
            IntToLongFunction metadataOffset,
            Function<Function<PartitionDecider, Decision>, CompletableFuture<Outcome>> changes) {
        this.nowMs = nowMs;
        this.metadataOffset = metadataOffset;
        this.changes = changes;
    }

    /** A term of this controller begins. */
    void begin() {
        waiting.clear();
        seenVersion = NONE_SEEN;
    }

    /** Called regularly. */
    void onTick(MetadataImage image) {
        if (nowMs.getAsLong() < nextCheckMs || !round.isDone()) {
            return;
        }
        nextCheckMs = nowMs.getAsLong() + CHECK_MS;
        if (image.version() != seenVersion) {
            look(image);
            seenVersion = image.version();
        }
        List<ConfirmedReassignment> confirmed = confirmed();
        if (!confirmed.isEmpty()) {
            confirmed.forEach(waiting::remove);
            round = changes.apply(decider -> decider.completeReassignments(confirmed))
                    .whenComplete((outcome, failure) -> {
                        if (failure != null) {
                            seenVersion = NONE_SEEN;
                        }
                    });
        }
    }

    private void look(MetadataImage image) {
        Map<ConfirmedReassignment, Waiting> found = new LinkedHashMap<>();
        for (TopicImage topic : image.topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                if (PartitionDecider.canComplete(topic, partition)) {
                    ConfirmedReassignment one =
                            new ConfirmedReassignment(topic.id(), number, partition.partitionEpoch());
                    Waiting before = waiting.get(one);
                    found.put(
                            one,
                            before == null ? new Waiting(image.version(), partition.inSyncTargetReplicas()) : before);
                }
            }
        }
        waiting = found;
    }

    private List<ConfirmedReassignment> confirmed() {
        List<ConfirmedReassignment> confirmed = new ArrayList<>();
        waiting.forEach((one, state) -> {
            if (confirmed.size() < MAX_REASSIGNMENTS
                    && state.nodes().stream().allMatch(node -> metadataOffset.applyAsLong(node) >= state.version())) {
                confirmed.add(one);
            }
        });
        return confirmed;
    }
}
