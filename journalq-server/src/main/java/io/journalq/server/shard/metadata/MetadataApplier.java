package io.journalq.server.shard.metadata;

import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.group.GroupCoordinators;
import io.journalq.server.shard.coordinator.transaction.TransactionCoordinators;

/**
 * Applies metadata images to shards and coordinators. Added partitions are served before clients see the image, and
 * removed partitions are deleted afterwards. On the controller's thread.
 */
public final class MetadataApplier implements MetadataPublisher.Listener {
    private final Shards shards;
    private final GroupCoordinators groups;
    private final TransactionCoordinators transactions;
    private final FutureWaiter waiting;

    public MetadataApplier(
            Shards shards, GroupCoordinators groups, TransactionCoordinators transactions, FutureWaiter waiting) {
        this.shards = shards;
        this.groups = groups;
        this.transactions = transactions;
        this.waiting = waiting;
    }

    @Override
    public void prepare(MetadataImage now, MetadataImage next) {
        waiting.join(shards.open(next));
        // When a client finds the topic of a coordinator, the coordinators must be available.
        waiting.join(groups.open(next));
        waiting.join(transactions.follow(next));
    }

    @Override
    public void onImage(MetadataImage before, MetadataImage now) {
        groups.follow(before, now);
        shards.deleteGone(before, now);
    }
}
