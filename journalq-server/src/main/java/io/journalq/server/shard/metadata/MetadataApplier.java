package io.journalq.server.shard.metadata;

import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.group.GroupCoordinators;
import io.journalq.server.shard.coordinator.transaction.TransactionCoordinators;

/**
 * Applies changes of the metadata to shards and coordinators. Added partitions are served before clients see the image,
 * and removed partitions are deleted afterwards. On the controller's thread.
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
    public void prepare(MetadataDelta delta) {
        waiting.join(shards.open(delta));
        // When a client finds the topic of a coordinator, the coordinators must be available.
        waiting.join(groups.open(delta));
        waiting.join(transactions.follow(delta));
    }

    @Override
    public void onImage(MetadataDelta delta) {
        groups.follow(delta);
        shards.deleteGone(delta);
    }
}
