package io.journalq.server.api.data;

import io.journalq.common.id.Uuid;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Asks several partitions, each on its shard's loop, and comes back to the connection's loop when all have answered. For
 * the requests that are not on the hot path; Produce and Fetch have their own ways.
 *
 * <p>Filled and started on the connection's loop.
 */
final class PartitionFanOut {
    private final LoopCycle home;
    private final Map<Shard, List<Item>> itemsByShard = new LinkedHashMap<>();

    /** One question to one partition. */
    interface Query {
        /**
         * Called on the shard's loop.
         *
         * @param host null when the shard does not host the partition
         * @param done to be run once when the answer is there, on any thread
         */
        void ask(PartitionHost host, Runnable done);
    }

    private record Item(Uuid topicId, int partition, Query query) {}

    PartitionFanOut(LoopCycle home) {
        this.home = home;
    }

    void add(Shard shard, Uuid topicId, int partition, Query query) {
        itemsByShard.computeIfAbsent(shard, absent -> new ArrayList<>()).add(new Item(topicId, partition, query));
    }

    /** Asks; {@code whenAllDone} is then run on the connection's loop. */
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
        itemsByShard.forEach((shard, items) -> shard.cycle().execute(() -> {
            for (Item item : items) {
                item.query().ask(shard.host(item.topicId(), item.partition()), done);
            }
        }));
    }
}
