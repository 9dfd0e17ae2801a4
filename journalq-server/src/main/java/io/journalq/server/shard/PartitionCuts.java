package io.journalq.server.shard;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.replication.ReplicaRole;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.replica.PartitionRewrites;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cuts the logs of partitions of one shard: each leaves the shard, is cut, and is opened again. On the loop of the shard.
 */
final class PartitionCuts implements PartitionRewrites {
    private static final Logger log = LoggerFactory.getLogger(PartitionCuts.class);

    /** Time after which a log that could not be cut is opened again. */
    private static final int RETRY_MS = 500;

    private static final CompletableFuture<Void> NOTHING = CompletableFuture.completedFuture(null);

    private final Partitions partitions;
    private final Shard shard;
    private final Executor opening;

    /** The partitions of all shards. Any thread. */
    interface Partitions {
        /**
         * Makes a change of a partition after the earlier ones that are not done.
         *
         * @param change its future never fails
         */
        CompletableFuture<Void> change(PartitionKey partition, Supplier<CompletableFuture<Void>> change);

        /** Opens a partition again, with the newest metadata. */
        CompletableFuture<Void> reopen(Uuid topicId, TopicPartition name);
    }

    /** @param opening opens and cuts partitions; its threads may block */
    PartitionCuts(Partitions partitions, Shard shard, Executor opening) {
        this.partitions = partitions;
        this.shard = shard;
        this.opening = opening;
    }

    @Override
    public void cut(PartitionHost host, long offset) {
        begin(host, offset, host.replica().role());
    }

    private void begin(PartitionHost host, long offset, ReplicaRole cutting) {
        try {
            opening.execute(() -> change(host, offset, cutting));
        } catch (RejectedExecutionException noThread) {
            log.warn("there is no thread to cut a log, trying again: partition={}", host.name());
            // It is not fetched until it is cut, so that nobody asks for the cut again.
            shard.cycle()
                    .loop()
                    .schedule(
                            () -> {
                                if (isCutting(host, cutting)) {
                                    begin(host, offset, cutting);
                                }
                            },
                            RETRY_MS);
        }
    }

    private void change(PartitionHost host, long offset, ReplicaRole cutting) {
        PartitionKey key = new PartitionKey(host.topicId(), host.name().partition());
        var unused = partitions.change(key, () -> shard.cycle()
                .ask(() -> leave(host, cutting))
                .thenComposeAsync(left -> left ? cutAndOpen(host, offset) : NOTHING, opening)
                .exceptionally(failure -> {
                    log.error("cannot cut: partition={}", host.name(), failure);
                    return null;
                }));
    }

    /** Closes a partition that still has to be cut; returns whether it has. */
    private boolean leave(PartitionHost host, ReplicaRole cutting) {
        return isCutting(host, cutting)
                && shard.remove(host.topicId(), host.name().partition()) != null;
    }

    private boolean isCutting(PartitionHost host, ReplicaRole cutting) {
        return shard.host(host.topicId(), host.name().partition()) == host
                && host.replica().role() == cutting;
    }

    private CompletableFuture<Void> cutAndOpen(PartitionHost host, long offset) {
        return onLoop(done -> host.replication().whenCuttable(done))
                .thenApplyAsync(cuttable -> host.replication().cutJournal(offset), opening)
                // After a failure, the leader asks for the same cut again.
                .thenCompose(cut ->
                        cut ? NOTHING : onLoop(done -> shard.cycle().loop().schedule(done, RETRY_MS)))
                .thenComposeAsync(cut -> partitions.reopen(host.topicId(), host.name()), opening);
    }

    /** Completed when {@code work}, which begins on the loop, calls its argument. */
    private CompletableFuture<Void> onLoop(Consumer<Runnable> work) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        return shard.cycle()
                .ask(() -> {
                    work.accept(() -> done.complete(null));
                    return null;
                })
                .thenCompose(begun -> done);
    }

    @Override
    public void takeOffline(PartitionHost host, String reason) {
        log.error("partition is offline until a restart: partition={} reason=\"{}\"", host.name(), reason);
        shard.takeOffline(host, new IOException(reason));
    }
}
