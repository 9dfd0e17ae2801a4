package io.journalq.server.broker;

import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.loop.Waiting;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.shard.Shards;

/**
 * Has shards and coordinators follow the metadata: what an image adds is served before anybody can see it, and what it
 * takes away is given up when nobody sees it any more. On the controller's thread.
 */
final class PartitionsFollow implements MetadataPublisher.Listener {
    private final Shards shards;
    private final GroupCoordinators groups;
    private final TransactionCoordinators transactions;
    private final Waiting waiting;

    PartitionsFollow(Shards shards, GroupCoordinators groups, TransactionCoordinators transactions, Waiting waiting) {
        this.shards = shards;
        this.groups = groups;
        this.transactions = transactions;
        this.waiting = waiting;
    }

    @Override
    public void prepare(MetadataImage now, MetadataImage next) {
        waiting.join(shards.open(next));
        // Whoever finds a coordinator's topic finds its coordinators at work.
        waiting.join(groups.open(next));
        waiting.join(transactions.follow(next));
    }

    @Override
    public void onImage(MetadataImage before, MetadataImage now) {
        groups.follow(before, now);
        shards.deleteGone(before, now);
    }
}
