package io.journalq.server.control;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.ClusterDecider;
import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataImage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which brokers may lead partitions: the active controller fences those that it does not hear from, and unfences those
 * that have caught up. A broker that is fenced leaves the in-sync replicas, and other brokers lead its partitions. Called
 * in the terms of this controller only, and by one thread at a time.
 */
final class BrokerLiveness {
    private static final Logger log = LoggerFactory.getLogger(BrokerLiveness.class);
    /** Number of heartbeats that a broker may miss after its connection has ended. */
    private static final int MISSED_AFTER_RESET = 2;
    /** Time between two looks at how the leaderships are spread. */
    private static final long BALANCE_MS = 60_000;
    /** Share of the partitions that prefer a broker which others may lead. */
    private static final int BALANCE_TOLERANCE_PERCENT = 10;

    private static final int NOBODY = -1;

    private final int nodeId;
    private final LongSupplier nowMs;
    private final Function<Function<ClusterDecider, Decision>, CompletableFuture<Outcome>> changes;
    private final BrokerSessions sessions;
    /** Changes of brokers that are not committed yet, so that repeated heartbeats do not repeat them. */
    private final Map<Integer, CompletableFuture<BrokerHeartbeat.Response>> changing = new HashMap<>();
    /** Number of metadata records that others need to know that a broker leaves, by its id. */
    private final Map<Integer, Long> leftAt = new HashMap<>();

    private long nextBalanceMs;
    /** Whether a batch that fences brokers is not committed yet. */
    private volatile boolean fencing;

    /**
     * Creates an instance.
     *
     * @param nodeId of this broker
     * @param nowMs a clock that never goes back
     * @param timeoutMs a broker is fenced if it is not heard from for this time
     * @param intervalMs time between heartbeats
     * @param changes runs a decision, and completes when its records are applied
     */
    BrokerLiveness(
            int nodeId,
            LongSupplier nowMs,
            long timeoutMs,
            long intervalMs,
            Function<Function<ClusterDecider, Decision>, CompletableFuture<Outcome>> changes) {
        this.nodeId = nodeId;
        this.nowMs = nowMs;
        this.sessions = new BrokerSessions(timeoutMs, Math.min(timeoutMs, MISSED_AFTER_RESET * intervalMs));
        this.changes = changes;
    }

    /** A term of this controller begins. */
    void begin(MetadataImage image) {
        changing.clear();
        leftAt.clear();
        nextBalanceMs = nowMs.getAsLong() + BALANCE_MS;
        int last = image.controller().nodeId();
        sessions.begin(live(image), last == nodeId ? NOBODY : last, nowMs.getAsLong());
    }

    private static List<Integer> live(MetadataImage image) {
        List<Integer> live = new ArrayList<>();
        for (BrokerImage broker : image.brokers()) {
            if (broker.isLive()) {
                live.add(broker.nodeId());
            }
        }
        return live;
    }

    /** A broker shows that it is alive. The future fails if the controller cannot decide now. */
    CompletableFuture<BrokerHeartbeat.Response> onHeartbeat(BrokerHeartbeat heartbeat, MetadataImage image) {
        int nodeId = heartbeat.nodeId();
        BrokerImage broker = image.broker(nodeId);
        if (broker == null || broker.epoch() != heartbeat.brokerEpoch()) {
            boolean isAhead = heartbeat.metadataOffset() > image.version();
            return isAhead
                    ? CompletableFuture.failedFuture(
                            new NotControllerException("the broker knows newer metadata than this controller"))
                    : CompletableFuture.completedFuture(BrokerHeartbeat.Response.failed(ErrorCode.STALE_BROKER_EPOCH));
        }
        sessions.onHeartbeat(nodeId, heartbeat.metadataOffset(), nowMs.getAsLong());
        CompletableFuture<BrokerHeartbeat.Response> pending = changing.get(nodeId);
        if (pending != null && !pending.isDone()) {
            return pending;
        }
        changing.remove(nodeId);
        boolean caughtUp = heartbeat.metadataOffset() > broker.epoch();
        BrokerHeartbeat.Response unchanged =
                new BrokerHeartbeat.Response(ErrorCode.NONE, caughtUp, broker.fenced(), false);
        if (heartbeat.wantsShutdown()) {
            return onLeaving(broker, image, unchanged);
        }
        if (heartbeat.wantsFence()) {
            return broker.fenced()
                    ? CompletableFuture.completedFuture(unchanged)
                    : fence(broker, new BrokerHeartbeat.Response(ErrorCode.NONE, caughtUp, true, false));
        }
        boolean full = !heartbeat.full().isEmpty();
        if (broker.full() != full) {
            log.warn("event=broker-{} broker={} directories={}", full ? "full" : "not-full", nodeId, heartbeat.full());
            return change(nodeId, decider -> decider.setFull(nodeId, broker.epoch(), full), unchanged);
        }
        return caughtUp && !broker.stays()
                ? change(
                        nodeId,
                        decider -> decider.unfence(nodeId, broker.epoch()),
                        new BrokerHeartbeat.Response(ErrorCode.NONE, true, false, false))
                : CompletableFuture.completedFuture(unchanged);
    }

    /** First, other brokers lead what they can. When all of them know it, nobody needs the broker any more. */
    private CompletableFuture<BrokerHeartbeat.Response> onLeaving(
            BrokerImage broker, MetadataImage image, BrokerHeartbeat.Response unchanged) {
        BrokerHeartbeat.Response left = new BrokerHeartbeat.Response(ErrorCode.NONE, unchanged.caughtUp(), true, true);
        if (broker.fenced()) {
            return CompletableFuture.completedFuture(left);
        }
        if (!broker.leaving()) {
            leftAt.remove(broker.nodeId());
            return change(broker.nodeId(), decider -> decider.leave(broker.nodeId(), broker.epoch()), unchanged);
        }
        long version = leftAt.computeIfAbsent(broker.nodeId(), none -> image.version());
        for (int other : live(image)) {
            if (other != broker.nodeId() && sessions.metadataOffset(other) < version) {
                return CompletableFuture.completedFuture(unchanged);
            }
        }
        return fence(broker, left);
    }

    private CompletableFuture<BrokerHeartbeat.Response> fence(BrokerImage broker, BrokerHeartbeat.Response then) {
        return change(broker.nodeId(), decider -> decider.fence(List.of(broker.nodeId())), then);
    }

    private CompletableFuture<BrokerHeartbeat.Response> change(
            int nodeId, Function<ClusterDecider, Decision> decision, BrokerHeartbeat.Response then) {
        CompletableFuture<BrokerHeartbeat.Response> changed = changes.apply(decision)
                .thenApply(outcome ->
                        outcome.error() == ErrorCode.NONE ? then : BrokerHeartbeat.Response.failed(outcome.error()));
        changing.put(nodeId, changed);
        return changed;
    }

    /** Number of metadata records that a broker had applied at its last heartbeat; -1 if it was not heard from. */
    long metadataOffset(int nodeId) {
        return sessions.metadataOffset(nodeId);
    }

    /** The connection over which a broker sends heartbeats has ended. */
    void onReset(int nodeId) {
        sessions.onReset(nodeId, nowMs.getAsLong());
    }

    /**
     * Fences the brokers that were not heard from in time, and from time to time gives partitions back to their preferred
     * leaders. Called regularly, see {@link BrokerSessions#expired}.
     */
    void onTick(MetadataImage image) {
        if (nowMs.getAsLong() >= nextBalanceMs) {
            nextBalanceMs = nowMs.getAsLong() + BALANCE_MS;
            var unused = changes.apply(decider -> decider.balanceLeaders(BALANCE_TOLERANCE_PERCENT));
        }
        List<Integer> expired = sessions.expired(live(image), nowMs.getAsLong());
        if (expired.isEmpty() || fencing) {
            return;
        }
        log.warn("fencing brokers that do not respond: brokers={}", expired);
        fencing = true;
        var unused = changes.apply(decider -> decider.fence(expired)).whenComplete((outcome, failure) -> {
            fencing = false;
        });
    }
}
