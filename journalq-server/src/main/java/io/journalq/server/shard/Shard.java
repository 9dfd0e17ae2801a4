package io.journalq.server.shard;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchValidator;
import io.journalq.common.record.DecompressionRoom;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.shard.flush.Flusher;
import io.journalq.server.shard.flush.LateWrites;
import io.journalq.server.shard.flush.WalLoopBuffers;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The partitions of one event loop. Every method on that loop, but for {@link #cycle}. */
public final class Shard {
    private static final Logger log = LoggerFactory.getLogger(Shard.class);

    /** Partitions that are looked after in one iteration of the loop: about a millisecond when they are idle. */
    private static final int SWEEP_PARTITIONS = 1_000;

    private static final long SWEEP_PAUSE_MS = 1;

    private final LoopCycle cycle;
    private final ShardTimes times;
    private final Executor blockingPool;
    private final DecompressionRoom decompressionRoom = DecompressionRoom.ofSmall(PooledByteBufAllocator.DEFAULT);
    private final BatchValidator validator = new BatchValidator(decompressionRoom);
    private final InlineRoom inlineRoom;
    private final LargeBatches largeBatches;
    private final Flusher flusher;
    private final LateWrites lateWrites;
    private final WalLoopBuffers walBuffers;
    private final Runnable keepTime;
    private final OfflinePartitions offlinePartitions;
    private final MemoryAccount producerMemory;
    private final Map<Uuid, PartitionHost[]> hostsByTopic = new HashMap<>();
    private volatile int hangingTransactions;

    /**
     * Hosts nothing yet.
     *
     * @param maxUnwrittenBytes the most that is left in memory at the end of a cycle
     * @param largeBatches for those that the loop does not look into itself
     * @param keepTime keeps the time that the broker runs at, for the next start; blocks
     */
    Shard(
            LoopCycle cycle,
            ShardTimes times,
            long maxUnwrittenBytes,
            LargeBatches largeBatches,
            WalLoopBuffers walBuffers,
            Runnable keepTime,
            Executor blockingPool,
            OfflinePartitions offlinePartitions,
            MemoryAccount producerMemory) {
        this.producerMemory = producerMemory;
        this.cycle = cycle;
        this.times = times;
        this.walBuffers = walBuffers;
        this.keepTime = keepTime;
        this.blockingPool = blockingPool;
        this.offlinePartitions = offlinePartitions;
        this.inlineRoom = new InlineRoom(cycle, largeBatches.maxInlineBytes());
        this.largeBatches = largeBatches;
        this.flusher = new Flusher(cycle, blockingPool);
        this.lateWrites = new LateWrites(cycle, maxUnwrittenBytes);
        cycle.loop().schedule(this::maintain, times.retentionCheckIntervalMs());
        cycle.loop().schedule(this::expireProducers, times.producerCheckIntervalMs());
    }

    private void expireProducers() {
        sweep(hosts(), 0, host -> host.expireProducers(times), () -> cycle.loop()
                .schedule(this::expireProducers, times.producerCheckIntervalMs()));
    }

    private void maintain() {
        int[] hanging = {0};
        sweep(
                hosts(),
                0,
                host -> {
                    host.maintain(times);
                    hanging[0] += host.hangingTransactions();
                },
                () -> {
                    hangingTransactions = hanging[0];
                    if (cycle.index() == 0) {
                        runBlocking(keepTime);
                    }
                    largeBatches.releaseIdle();
                    cycle.loop().schedule(this::maintain, times.retentionCheckIntervalMs());
                });
    }

    /**
     * Maintains {@link #SWEEP_PARTITIONS} partitions in each iteration of the loop, so that requests are served in between.
     *
     * @param done runs at the end
     */
    private void sweep(List<PartitionHost> all, int from, Consumer<PartitionHost> work, Runnable done) {
        int end = Math.min(all.size(), from + SWEEP_PARTITIONS);
        for (PartitionHost host : all.subList(from, end)) {
            if (!host.isClosed()) {
                guarded(host, () -> work.accept(host));
            }
        }
        if (end < all.size()) {
            cycle.loop().schedule(() -> sweep(all, end, work, done), SWEEP_PAUSE_MS);
        } else {
            done.run();
        }
    }

    /** A failure in one partition does not keep the others from their maintenance. */
    private static void guarded(PartitionHost host, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | Error defect) {
            log.error("unexpected failure of maintenance: partition={}", host.name(), defect);
        }
    }

    /** As of the last look. Any thread. */
    int hangingTransactions() {
        return hangingTransactions;
    }

    /** Runs {@code work} on a thread that may wait for the disk; false when too much is waiting already. */
    boolean runBlocking(Runnable work) {
        try {
            blockingPool.execute(work);
            return true;
        } catch (RejectedExecutionException overloaded) {
            log.warn("too much work waits for the disk: loop={}", cycle.index());
            return false;
        }
    }

    /** The cycle of the loop that this shard lives on. Any thread. */
    public LoopCycle cycle() {
        return cycle;
    }

    /** The partition's host; null when this shard does not host it, or not yet. */
    public PartitionHost host(Uuid topicId, int partition) {
        PartitionHost[] hosts = hostsByTopic.get(topicId);
        return hosts != null && partition >= 0 && partition < hosts.length ? hosts[partition] : null;
    }

    /** What a client is told when this shard does not host the partition. Any thread. */
    public ErrorCode errorOfMissing(Uuid topicId, int partition) {
        return offlinePartitions.errorOfMissing(topicId, partition);
    }

    /** Where the producers of all partitions are charged. */
    MemoryAccount producerMemory() {
        return producerMemory;
    }

    ShardTimes times() {
        return times;
    }

    /** Shared by the partitions of this loop. */
    BatchValidator validator() {
        return validator;
    }

    /** Likewise. */
    InlineRoom inlineRoom() {
        return inlineRoom;
    }

    /** Shared by all shards. */
    LargeBatches largeBatches() {
        return largeBatches;
    }

    Flusher flusher() {
        return flusher;
    }

    LateWrites lateWrites() {
        return lateWrites;
    }

    WalLoopBuffers walBuffers() {
        return walBuffers;
    }

    void add(Uuid topicId, int partition, PartitionHost host) {
        PartitionHost[] hosts = hostsByTopic.getOrDefault(topicId, new PartitionHost[0]);
        if (partition >= hosts.length) {
            hosts = Arrays.copyOf(hosts, partition + 1);
            hostsByTopic.put(topicId, hosts);
        }
        hosts[partition] = host;
    }

    /** Stops to host a topic; the hosts are closed, their journals are not. */
    List<PartitionHost> remove(Uuid topicId) {
        PartitionHost[] removed = hostsByTopic.remove(topicId);
        List<PartitionHost> hosts = new ArrayList<>();
        if (removed != null) {
            for (PartitionHost host : removed) {
                if (host != null) {
                    host.close();
                    hosts.add(host);
                }
            }
        }
        return hosts;
    }

    /** The files of every partition in a data directory can be used no more. */
    void takeOffline(Path dataDirectory, IOException reason) {
        hostsByTopic.forEach((topicId, hosts) -> {
            for (PartitionHost host : hosts) {
                if (host != null && host.isIn(dataDirectory)) {
                    offlinePartitions.add(topicId, host.name());
                    host.takeOffline(reason);
                }
            }
        });
    }

    /** Every host. */
    public List<PartitionHost> hosts() {
        List<PartitionHost> hosts = new ArrayList<>();
        for (PartitionHost[] ofTopic : hostsByTopic.values()) {
            for (PartitionHost host : ofTopic) {
                if (host != null) {
                    hosts.add(host);
                }
            }
        }
        return hosts;
    }

    /** Stops to host anything, for good; the hosts are closed, their journals are not. */
    List<PartitionHost> close() {
        List<PartitionHost> hosts = new ArrayList<>();
        for (Uuid topicId : new ArrayList<>(hostsByTopic.keySet())) {
            hosts.addAll(remove(topicId));
        }
        decompressionRoom.close();
        return hosts;
    }
}
