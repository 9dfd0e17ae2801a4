package io.journalq.server.shard.metadata;

import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.group.GroupCoordinators;
import io.journalq.server.shard.coordinator.transaction.TransactionCoordinators;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;

/**
 * Applies changes of the metadata to shards and coordinators. Added partitions are served before clients see the image,
 * and the partitions of removed topics are deleted afterwards. Never blocks, except in {@link #start}. Changes that
 * arrive while the broker starts wait until then.
 */
public final class MetadataApplier implements MetadataPublisher.Listener {
    private final Shards shards;
    private final GroupCoordinators groups;
    private final TransactionCoordinators transactions;
    /** Changes that have arrived before the start; null since then. */
    private Deque<MetadataDelta> early = new ArrayDeque<>();

    /** The image that the start has applied. */
    private long startVersion;

    /** Creates an applier; {@link #start} starts it. */
    public MetadataApplier(Shards shards, GroupCoordinators groups, TransactionCoordinators transactions) {
        this.shards = shards;
        this.groups = groups;
        this.transactions = transactions;
    }

    /**
     * Applies the changes that have arrived so far, and lets later ones be applied as they arrive.
     *
     * @param image what shards and coordinators have
     */
    public void start(MetadataImage image, FutureWaiter waiting) {
        startVersion = image.version();
        for (MetadataDelta delta = nextEarly(); delta != null; delta = nextEarly()) {
            waiting.join(open(delta));
            close(delta);
        }
    }

    private synchronized MetadataDelta nextEarly() {
        MetadataDelta next = early.poll();
        while (next != null && next.now().version() <= startVersion) {
            next = early.poll();
        }
        if (next == null) {
            early = null;
        } else {
            startVersion = next.now().version();
        }
        return next;
    }

    private synchronized boolean isOfStart(MetadataDelta delta) {
        return early != null || delta.now().version() <= startVersion;
    }

    @Override
    public CompletableFuture<Void> prepare(MetadataDelta delta) {
        synchronized (this) {
            if (early != null) {
                early.add(delta);
            }
        }
        return isOfStart(delta) ? CompletableFuture.completedFuture(null) : open(delta);
    }

    @Override
    public void onImage(MetadataDelta delta) {
        if (!isOfStart(delta)) {
            close(delta);
        }
    }

    private CompletableFuture<Void> open(MetadataDelta delta) {
        // When a client finds the topic of a coordinator, the coordinators must be available.
        return CompletableFuture.allOf(shards.partitions().open(delta), groups.open(delta), transactions.follow(delta));
    }

    private void close(MetadataDelta delta) {
        groups.follow(delta);
        shards.partitions().deleteGone(delta);
    }
}
