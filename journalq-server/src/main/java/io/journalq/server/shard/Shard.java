package io.journalq.server.shard;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.loop.BlockingWork;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.producerstate.VerificationGuards;
import io.journalq.server.shard.append.OffLoopBatchValidator;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.partition.PartitionHost.PartitionResources;
import io.journalq.server.shard.replica.PartitionRewrites;
import io.journalq.server.shard.replica.ReplicaHost;
import io.journalq.server.shard.replica.ReplicaPeers;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The partitions of one event loop. All methods run on that loop, except for {@link #cycle}. */
public final class Shard {
    private static final Logger log = LoggerFactory.getLogger(Shard.class);

    /**
     * Number of partitions that are maintained in one iteration of the loop: about a millisecond of work if they are
     * idle.
     */
    private static final int SWEEP_PARTITIONS = 1_000;

    private static final long SWEEP_PAUSE_MS = 1;

    private final LoopCycle cycle;
    private final ShardTimes times;
    private final BlockingWork blockingWork;
    private final OffLoopBatchValidator offLoopValidator;
    private final PartitionResources resources;
    private final Runnable keepTime;
    private final OfflinePartitions offlinePartitions;
    private final Map<Uuid, PartitionHost[]> hostsByTopic = new HashMap<>();
    /** Null for a broker that is alone. */
    private ReplicaHost replicas;

    private volatile int hangingTransactions;

    /**
     * Creates a shard without partitions.
     *
     * @param resources shared by its partitions
     * @param offLoopValidator shared by all shards
     * @param keepTime stores the time at which the broker runs, for the next start; blocks
     */
    Shard(
            PartitionResources resources,
            ShardTimes times,
            OffLoopBatchValidator offLoopValidator,
            Runnable keepTime,
            OfflinePartitions offlinePartitions) {
        this.resources = resources;
        this.cycle = resources.cycle();
        this.blockingWork = resources.blockingWork();
        this.times = times;
        this.offLoopValidator = offLoopValidator;
        this.keepTime = keepTime;
        this.offlinePartitions = offlinePartitions;
        cycle.loop().schedule(this::maintain, times.retentionCheckIntervalMs());
        cycle.loop().schedule(this::expireProducers, times.producerCheckIntervalMs());
    }

    private void expireProducers() {
        sweep(
                hosts(),
                0,
                host -> host.producers()
                        .expire(
                                times.retentionClock().nowMs(),
                                times.producerExpiryMs().getAsLong()),
                () -> cycle.loop().schedule(this::expireProducers, times.producerCheckIntervalMs()));
    }

    private void maintain() {
        int[] hanging = {0};
        sweep(
                hosts(),
                0,
                host -> {
                    boolean expired = host.maintain(
                            times.clock().millis(), times.retentionClock().nowMs(), times.transactionMaxTimeoutMs());
                    if (expired && replicas != null) {
                        replicas.onExpired(host);
                    }
                    hanging[0] += host.producers().hangingTransactions();
                },
                () -> {
                    hangingTransactions = hanging[0];
                    if (cycle.index() == 0) {
                        blockingWork.start(keepTime);
                    }
                    offLoopValidator.releaseIdle();
                    cycle.loop().schedule(this::maintain, times.retentionCheckIntervalMs());
                });
    }

    /**
     * Maintains {@link #SWEEP_PARTITIONS} partitions in each iteration of the loop, so that requests are served in
     * between.
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

    /** Runs {@code work} so that a failure in one partition does not affect the maintenance of the others. */
    private static void guarded(PartitionHost host, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | Error defect) {
            log.error("unexpected failure of maintenance: partition={}", host.name(), defect);
        }
    }

    /** Number of hanging transactions at the last check. Any thread. */
    int hangingTransactions() {
        return hangingTransactions;
    }

    /** The cycle of this shard's loop. Any thread. */
    public LoopCycle cycle() {
        return cycle;
    }

    /** The partition's host; null if this shard does not host it, or not yet. */
    public PartitionHost host(Uuid topicId, int partition) {
        PartitionHost[] hosts = hostsByTopic.get(topicId);
        return hosts != null && partition >= 0 && partition < hosts.length ? hosts[partition] : null;
    }

    /** The error for a partition that this shard does not host. Any thread. */
    public ErrorCode errorOfMissing(Uuid topicId, int partition) {
        return offlinePartitions.errorOfMissing(topicId, partition);
    }

    /** Guards the verification of transactional batches for the partitions of this shard. Any thread. */
    public VerificationGuards guards() {
        return resources.appends().guards();
    }

    /** Shared by its partitions. */
    PartitionResources resources() {
        return resources;
    }

    /** Replicates the partitions of this shard, before there are any. */
    void join(ReplicaPeers peers, PartitionRewrites rewrites) {
        replicas = new ReplicaHost(cycle, peers, rewrites);
    }

    /** Whether partitions of this shard can have replicas on other brokers. Any thread. */
    boolean isReplicated() {
        return replicas != null;
    }

    /** Fetches nothing more from other brokers. */
    void stopReplication() {
        replicas.close();
    }

    /** A partition of this shard may have other replicas, or another role. */
    void onReplicas(PartitionHost host) {
        if (replicas != null) {
            if (host.isReplicated() && host.journal().isFenced()) {
                offlinePartitions.add(host.topicId(), host.name());
            }
            replicas.onReplicas(host);
        }
    }

    void add(Uuid topicId, int partition, PartitionHost host) {
        PartitionHost[] hosts = hostsByTopic.getOrDefault(topicId, new PartitionHost[0]);
        if (partition >= hosts.length) {
            hosts = Arrays.copyOf(hosts, partition + 1);
            hostsByTopic.put(topicId, hosts);
        }
        hosts[partition] = host;
        host.setFailureListener(() -> onReplicas(host));
        onReplicas(host);
    }

    /** Stops hosting a partition. The host is closed, but not its journal; null if there is none. */
    PartitionHost remove(Uuid topicId, int partition) {
        PartitionHost host = host(topicId, partition);
        if (host != null) {
            hostsByTopic.get(topicId)[partition] = null;
            close(host);
        }
        return host;
    }

    private void close(PartitionHost host) {
        if (replicas != null) {
            replicas.remove(host);
        }
        host.close();
    }

    /** Stops hosting a topic. The hosts are closed, but not their journals. */
    List<PartitionHost> remove(Uuid topicId) {
        PartitionHost[] removed = hostsByTopic.remove(topicId);
        List<PartitionHost> hosts = new ArrayList<>();
        if (removed != null) {
            for (PartitionHost host : removed) {
                if (host != null) {
                    close(host);
                    hosts.add(host);
                }
            }
        }
        return hosts;
    }

    /** Stops using the files of every partition in a data directory. */
    void takeOffline(Path dataDirectory, IOException reason) {
        hostsByTopic.forEach((topicId, hosts) -> {
            for (PartitionHost host : hosts) {
                if (host != null && host.isIn(dataDirectory)) {
                    takeOffline(host, reason);
                }
            }
        });
    }

    /** Stops using the files of a partition. */
    void takeOffline(PartitionHost host, IOException reason) {
        offlinePartitions.add(host.topicId(), host.name());
        host.takeOffline(reason);
        onReplicas(host);
    }

    /** All hosts. */
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

    /** Stops hosting all partitions permanently. The hosts are closed, but not their journals. */
    List<PartitionHost> close() {
        if (replicas != null) {
            replicas.close();
        }
        List<PartitionHost> hosts = new ArrayList<>();
        for (Uuid topicId : new ArrayList<>(hostsByTopic.keySet())) {
            hosts.addAll(remove(topicId));
        }
        resources.appends().close();
        return hosts;
    }

    /**
     * The clocks and intervals of a shard.
     *
     * @param clock the time of day
     * @param retentionClock the time of day for retention
     * @param retentionCheckIntervalMs how often journals are checked for segments to close or delete, in milliseconds
     * @param producerCheckIntervalMs how often producers are checked for expiry, in milliseconds
     * @param producerExpiryMs how long a silent producer's sequence numbers are remembered, in milliseconds; may change
     * @param transactionMaxTimeoutMs how long a transaction may be open, in milliseconds
     */
    record ShardTimes(
            Clock clock,
            RetentionClock retentionClock,
            long retentionCheckIntervalMs,
            long producerCheckIntervalMs,
            LongSupplier producerExpiryMs,
            long transactionMaxTimeoutMs) {}
}
