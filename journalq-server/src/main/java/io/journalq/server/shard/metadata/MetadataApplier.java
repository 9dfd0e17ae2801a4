package io.journalq.server.shard.metadata;

import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.group.GroupCoordinators;
import io.journalq.server.shard.coordinator.transaction.TransactionCoordinators;
import java.util.concurrent.CompletableFuture;

/**
 * Applies changes of the metadata to shards and coordinators. Added partitions are served before clients see the image,
 * and the partitions of removed topics are deleted afterwards. Never blocks.
 */
public final class MetadataApplier implements MetadataPublisher.Listener {
    private final Shards shards;
    private final GroupCoordinators groups;
    private final TransactionCoordinators transactions;

    public MetadataApplier(Shards shards, GroupCoordinators groups, TransactionCoordinators transactions) {
        this.shards = shards;
        this.groups = groups;
        this.transactions = transactions;
    }

    @Override
    public CompletableFuture<Void> prepare(MetadataDelta delta) {
        // When a client finds the topic of a coordinator, the coordinators must be available.
        return CompletableFuture.allOf(shards.open(delta), groups.open(delta), transactions.follow(delta));
    }

    @Override
    public void onImage(MetadataDelta delta) {
        groups.follow(delta);
        shards.deleteGone(delta);
    }
}
