package io.journalq.server.shard.replica;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.replication.FollowerRole;
import io.journalq.server.replication.IsrProposal;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replicated partitions of one loop: fetches those that other brokers lead, and proposes the in-sync replicas of
 * those that are led here. On the loop.
 */
public final class ReplicaHost {
    private static final Logger log = LoggerFactory.getLogger(ReplicaHost.class);

    /** Time until a proposal is repeated whose outcome is unknown. */
    private static final int REPEAT_MS = 100;

    /** An attempt whose outcome is unknown can arrive at the controller this much later, in milliseconds. */
    private static final long LATEST_ATTEMPT_MS = 10_000;

    private static final int CHECKS_PER_LAG = 2;
    /** A record that is too old is noticed after one check at most. */
    private static final int CHECKS_PER_LONE_TIME = 8;

    /** If a check comes later than this many, the process was paused. */
    private static final int PAUSED_TICKS = 4;

    private final LoopCycle cycle;
    private final ReplicaPeers peers;
    private final PartitionRewrites rewrites;
    private final Map<Source, ReplicaFetcher> fetchers = new LinkedHashMap<>();
    private final Map<PartitionHost, ReplicaFetcher> fetcherOf = new LinkedHashMap<>();
    private final Set<PartitionHost> led = new LinkedHashSet<>();
    private boolean ticks;
    private long lagCheckedMs;
    private long tickedMs;
    /** Whether the process was paused before the last check. Fetches that have arrived in the meantime are handled first. */
    private boolean resumed;

    private boolean closed;

    /**
     * What one fetcher fetches.
     *
     * @param synced whether the partitions acknowledge only what is on the disk, so that the others do not wait for that
     */
    private record Source(int leader, boolean synced) {}

    public ReplicaHost(LoopCycle cycle, ReplicaPeers peers, PartitionRewrites rewrites) {
        this.cycle = cycle;
        this.peers = peers;
        this.rewrites = rewrites;
    }

    /** A partition was opened, or its replicas have changed. */
    public void onReplicas(PartitionHost host) {
        if (closed) {
            return;
        }
        int leader = host.replica().role() instanceof FollowerRole following && host.isWritable()
                ? following.leader()
                : FollowerRole.NO_LEADER;
        ReplicaFetcher before = fetcherOf.remove(host);
        ReplicaFetcher now = leader == FollowerRole.NO_LEADER
                ? null
                : fetchers.computeIfAbsent(
                        new Source(leader, host.replication().acknowledgesSynced()),
                        source -> new ReplicaFetcher(cycle, source.leader(), source.synced(), peers, rewrites));
        if (before != null && before != now) {
            before.remove(host);
        }
        if (now != null) {
            fetcherOf.put(host, now);
            host.replication().setLeadingListener(() -> onReplicas(host));
            now.add(host);
        }
        if (host.replica().isLeader() && host.isReplicated()) {
            host.replication().setCandidateListener(() -> propose(host));
            led.add(host);
            propose(host);
            startTicks();
        } else {
            led.remove(host);
        }
        fetchers.values().removeIf(ReplicaFetcher::isEmpty);
    }

    /** The oldest records of a partition have expired here, see {@link ReplicaFetcher#onExpired}. */
    public void onExpired(PartitionHost host) {
        ReplicaFetcher fetcher = fetcherOf.get(host);
        if (fetcher != null) {
            fetcher.onExpired(host);
        }
    }

    /** A partition leaves this loop. */
    public void remove(PartitionHost host) {
        ReplicaFetcher fetcher = fetcherOf.remove(host);
        if (fetcher != null) {
            fetcher.remove(host);
        }
        led.remove(host);
    }

    /** Fetches and proposes nothing more. */
    public void close() {
        closed = true;
        fetchers.values().forEach(ReplicaFetcher::close);
        fetchers.clear();
        fetcherOf.clear();
        led.clear();
    }

    private void startTicks() {
        if (!ticks) {
            ticks = true;
            tickedMs = nowMs();
            cycle.loop().schedule(this::tick, tickMs());
        }
    }

    private long tickMs() {
        return Math.max(1, Math.min(peers.maxLagMs() / CHECKS_PER_LAG, peers.maxLoneMs() / CHECKS_PER_LONE_TIME));
    }

    /** Looks for in-sync replicas that are behind. */
    private void tick() {
        ticks = false;
        if (closed || led.isEmpty()) {
            return;
        }
        long nowMs = nowMs();
        long maxAgeMs = peers.maxLoneMs() - tickMs();
        boolean all = resumed || nowMs - lagCheckedMs >= peers.maxLagMs() / CHECKS_PER_LAG;
        resumed = !resumed && nowMs - tickedMs > PAUSED_TICKS * tickMs();
        lagCheckedMs = all ? nowMs : lagCheckedMs;
        List<PartitionHost> behind = new ArrayList<>();
        for (PartitionHost host : led) {
            if (host.replication().observe(maxAgeMs, nowMs) || all) {
                behind.add(host);
            }
        }
        if (!resumed) {
            behind.forEach(this::propose);
        }
        startTicks();
    }

    private void propose(PartitionHost host) {
        IsrProposal proposal = host.replica().propose(peers.mayJoin(), peers.maxLagMs(), nowMs());
        if (proposal != null) {
            send(host, proposal);
        }
    }

    private void send(PartitionHost host, IsrProposal proposal) {
        log.info(
                "proposing in-sync replicas: partition={} leaderEpoch={} partitionEpoch={} replicas={}",
                host.name(),
                proposal.leaderEpoch(),
                proposal.partitionEpoch(),
                proposal.members().stream().map(IsrProposal.Member::brokerId).toList());
        attempt(host, proposal, Long.MIN_VALUE);
    }

    /** @param settledMs before this time, an earlier attempt can still be accepted */
    private void attempt(PartitionHost host, IsrProposal proposal, long settledMs) {
        var unused = peers.proposals()
                .propose(host.topicId(), host.name().partition(), proposal)
                .whenComplete((error, failure) -> cycle.execute(() -> {
                    if (isOpen(host, proposal)) {
                        onOutcome(host, proposal, settledMs, error, failure);
                    }
                }));
    }

    private boolean isOpen(PartitionHost host, IsrProposal proposal) {
        return !closed && !host.isClosed() && host.replica().isOpen(proposal);
    }

    private void onOutcome(
            PartitionHost host, IsrProposal proposal, long settledMs, ErrorCode error, Throwable failure) {
        if (failure != null || isTemporary(error)) {
            log.debug("the outcome of a proposal is unknown: partition={} error={}", host.name(), error, failure);
            repeat(host, proposal, failure == null ? settledMs : nowMs() + LATEST_ATTEMPT_MS);
        } else if (error == ErrorCode.INELIGIBLE_REPLICA || error == ErrorCode.INVALID_REQUEST) {
            if (nowMs() < settledMs
                    && !peers.decided()
                            .isNeverAccepted(host.topicId(), host.name().partition(), proposal)) {
                repeat(host, proposal, settledMs);
                return;
            }
            log.info("a proposal of in-sync replicas is refused: partition={} error={}", host.name(), error);
            host.replication().onReplicaChange(() -> host.replica().onRefused(proposal, nowMs()));
        } else if (error != ErrorCode.NONE) {
            // The metadata are newer than those of this broker. An earlier attempt may have been accepted.
            log.debug("a proposal waits for newer metadata: partition={} error={}", host.name(), error);
        }
    }

    /** Whether the controller has not decided. The rights of this broker can be missing for a moment. */
    private static boolean isTemporary(ErrorCode error) {
        return error == ErrorCode.NOT_CONTROLLER
                || error == ErrorCode.STALE_BROKER_EPOCH
                || error == ErrorCode.CLUSTER_AUTHORIZATION_FAILED;
    }

    private void repeat(PartitionHost host, IsrProposal proposal, long settledMs) {
        cycle.loop()
                .schedule(
                        () -> {
                            if (isOpen(host, proposal)) {
                                attempt(host, proposal, settledMs);
                            }
                        },
                        REPEAT_MS);
    }

    private long nowMs() {
        return TimeUnit.NANOSECONDS.toMillis(cycle.loop().nanoTime());
    }
}
