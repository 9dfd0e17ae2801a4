package io.journalq.server.api.data;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Sends queries to several partitions, each on its shard's loop, and returns to the client's loop when all have
 * completed. It is for requests that are not on the hot path. Produce and Fetch have their own implementations.
 *
 * <p>Filled and started on the client's loop.
 */
final class PartitionFanOut {
    private final LoopCycle home;
    private final MetadataImage image;
    private final Shards shards;
    private final Map<Shard, List<Item>> itemsByShard = new LinkedHashMap<>();

    /** A query to one partition. */
    interface Query {
        /**
         * Called on the shard's loop.
         *
         * @param done must be called once when the result is available, on any thread
         */
        void ask(PartitionHost host, Runnable done);
    }

    private record Item(Uuid topicId, int partition, Consumer<ErrorCode> refused, Query query) {}

    PartitionFanOut(LoopCycle home, MetadataImage image, Shards shards) {
        this.home = home;
        this.image = image;
        this.shards = shards;
    }

    /** Whether the topic has that partition. */
    boolean exists(String topic, int partition) {
        return find(topic, partition) != null;
    }

    private TopicImage find(String name, int partition) {
        TopicImage topic = image.topic(name);
        return topic != null && topic.hasPartition(partition) ? topic : null;
    }

    /**
     * Adds a query.
     *
     * @param refused receives the error if there is no such partition, immediately, or if it is not served, on the
     *     shard's loop
     */
    void add(String topicName, int partition, Consumer<ErrorCode> refused, Query query) {
        TopicImage topic = find(topicName, partition);
        if (topic == null) {
            refused.accept(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
            return;
        }
        itemsByShard
                .computeIfAbsent(shards.shardOf(topic.id(), partition), absent -> new ArrayList<>())
                .add(new Item(topic.id(), partition, refused, query));
    }

    /** Starts the queries. {@code whenAllDone} then runs on the client's loop. */
    void start(Runnable whenAllDone) {
        int count = itemsByShard.values().stream().mapToInt(List::size).sum();
        if (count == 0) {
            whenAllDone.run();
            return;
        }
        AtomicInteger outstanding = new AtomicInteger(count);
        Runnable done = () -> {
            if (outstanding.decrementAndGet() == 0) {
                home.execute(whenAllDone);
            }
        };
        itemsByShard.forEach(
                (shard, items) -> shard.cycle().execute(() -> items.forEach(item -> ask(shard, item, done))));
    }

    private void ask(Shard shard, Item item, Runnable done) {
        PartitionHost host = shard.host(item.topicId(), item.partition());
        if (host == null) {
            item.refused().accept(shards.offlinePartitions().errorOfMissing(item.topicId(), item.partition()));
            done.run();
        } else {
            item.query().ask(host, done);
        }
    }
}
