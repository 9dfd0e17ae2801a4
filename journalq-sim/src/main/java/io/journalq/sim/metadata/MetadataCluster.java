package io.journalq.sim.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.server.control.BrokerHeartbeat;
import io.journalq.server.control.Controller;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.sim.world.Violations;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * The metadata of a cluster, without anything else of it. Time passes in steps of the controller's tick. Replicas are in sync
 * as soon as their leaders may propose it. One thread.
 */
final class MetadataCluster {
    private static final int ELECTION_MS = 1_500;
    private static final int LIMIT_MS = 180_000;

    private final Violations violations;
    private final CostMeter meter;
    private final CommittedLog log;
    private final MetadataQuorum quorum;
    private final Map<Integer, SimulatedBroker> brokers = new TreeMap<>();
    private final Set<Integer> registering = new HashSet<>();
    private long nowMs;
    private long electionMs;
    /** What brokers without simulated metadata have applied. */
    private long appliedOffset;

    private Times times = Times.NONE;

    /** What the real code has cost so far. */
    record Times(long controllerNanos, long longestNanos, long allocatedBytes, long observerNanos) {
        static final Times NONE = new Times(0, 0, 0, 0);

        private Times plusController(long nanos, long bytes) {
            return new Times(
                    controllerNanos + nanos, Math.max(longestNanos, nanos), allocatedBytes + bytes, observerNanos);
        }

        private Times plusObserver(long nanos) {
            return new Times(controllerNanos, longestNanos, allocatedBytes, observerNanos + nanos);
        }
    }

    /** @param log receives what is committed */
    MetadataCluster(MetadataPlan plan, Random random, Violations violations, CostMeter meter, CommittedLog log)
            throws IOException {
        this.violations = violations;
        this.meter = meter;
        this.log = log;
        this.quorum = new MetadataQuorum(log, () -> nowMs);
        for (int nodeId = 1; nodeId <= plan.brokers(); nodeId++) {
            boolean observes = nodeId <= MetadataPlan.VOTERS + plan.observers();
            Observer observer = observes ? new Observer(nodeId, plan.partitions(), log) : null;
            brokers.put(nodeId, new SimulatedBroker(nodeId, "rack-" + nodeId % plan.racks(), observer));
        }
        MetadataMachine machine =
                new MetadataMachine(new MetadataMachine.Limits(1, 1, plan.partitions(), plan.partitions()));
        log.append(machine.format(newId(random)).records(), 1, nowMs);
        for (int nodeId = 1; nodeId <= MetadataPlan.VOTERS; nodeId++) {
            quorum.add(nodeId, brokers.get(nodeId).observer(), () -> newId(random));
        }
    }

    private static Uuid newId(Random random) {
        return new Uuid(random.nextLong(), random.nextLong());
    }

    Controller controller() {
        return quorum.controller();
    }

    MetadataQuorum quorum() {
        return quorum;
    }

    /** The metadata on the controller. */
    MetadataImage image() {
        return quorum.leaderMetadata().image();
    }

    Collection<SimulatedBroker> brokers() {
        return brokers.values();
    }

    SimulatedBroker broker(int nodeId) {
        return brokers.get(nodeId);
    }

    /** What the real code has cost since the last call. */
    Times takeTimes() {
        Times taken = times;
        times = Times.NONE;
        return taken;
    }

    /** Runs everything that can run now. */
    void settle() {
        long beganNanos = meter.nanos();
        long beganBytes = meter.allocatedBytes();
        while (quorum.step()) {
            // The next one.
        }
        times = times.plusController(meter.nanos() - beganNanos, meter.allocatedBytes() - beganBytes);
        int replaying = 0;
        beganNanos = meter.nanos();
        for (SimulatedBroker broker : brokers.values()) {
            if (broker.observer() != null && broker.isRunning() && !quorum.isLeader(broker.nodeId())) {
                broker.observer().catchUp();
                replaying++;
            }
        }
        if (replaying > 0) {
            times = times.plusObserver((meter.nanos() - beganNanos) / replaying);
        }
        appliedOffset = log.endOffset();
    }

    /** Time passes until {@code condition} holds. */
    void await(String what, BooleanSupplier condition) {
        long endMs = nowMs + LIMIT_MS;
        while (!condition.getAsBoolean()) {
            if (nowMs > endMs) {
                violations.report("TheClusterSettles", "no " + what + " after " + LIMIT_MS + " ms");
                return;
            }
            tick();
        }
    }

    void pass(int ms) {
        long endMs = nowMs + ms;
        while (nowMs < endMs) {
            tick();
        }
    }

    private void tick() {
        nowMs += Controller.TICK_MS;
        if (quorum.controller() == null) {
            elect();
        }
        if (quorum.controller() != null) {
            for (SimulatedBroker broker : brokers.values()) {
                if (broker.isRunning() && broker.epoch() < 0) {
                    register(broker);
                }
                if (broker.isHeartbeatDue(nowMs, MetadataQuorum.HEARTBEAT_MS)) {
                    heartbeat(broker);
                }
            }
            quorum.controller().tick();
        }
        settle();
    }

    private void elect() {
        if (electionMs == 0) {
            electionMs = nowMs + ELECTION_MS;
        } else if (nowMs >= electionMs) {
            electionMs = 0;
            for (int nodeId = 1; nodeId <= MetadataPlan.VOTERS && quorum.controller() == null; nodeId++) {
                if (brokers.get(nodeId).isRunning()) {
                    quorum.elect(nodeId);
                }
            }
        }
    }

    private void register(SimulatedBroker broker) {
        if (!registering.add(broker.nodeId())) {
            return;
        }
        var unused = quorum.controller()
                .registerBroker(broker.registration(), broker.previousEpoch())
                .whenComplete((outcome, failure) -> {
                    registering.remove(broker.nodeId());
                    BrokerImage registered = quorum.controller() == null ? null : image().broker(broker.nodeId());
                    if (failure == null
                            && registered != null
                            && registered.registration().equals(broker.registration())) {
                        broker.registered(registered.epoch());
                    }
                });
    }

    private void heartbeat(SimulatedBroker broker) {
        long offset = broker.observer() == null
                ? appliedOffset
                : broker.observer().image().version();
        var unused = quorum.controller()
                .heartbeat(new BrokerHeartbeat(broker.nodeId(), broker.epoch(), offset, false, false, List.of()));
    }

    /** The first election. */
    void begin() {
        quorum.elect(1);
        settle();
    }

    void start(Collection<Integer> nodeIds) {
        nodeIds.forEach(nodeId -> brokers.get(nodeId).start(nowMs));
    }

    /** @param reset whether the operating system tells the controller that the connections have ended */
    void crash(Collection<Integer> nodeIds, boolean reset) {
        for (int nodeId : nodeIds) {
            brokers.get(nodeId).crash();
            if (quorum.isLeader(nodeId)) {
                quorum.depose();
            } else if (reset && quorum.controller() != null) {
                quorum.controller().onReset(nodeId);
            }
        }
    }

    boolean areLive(Collection<Integer> nodeIds) {
        return quorum.controller() != null && nodeIds.stream().allMatch(nodeId -> image().liveBroker(nodeId) != null);
    }

    /** Whether no partition moves. */
    boolean movesNothing() {
        return image().topics().stream()
                .flatMap(topic -> topic.partitions().stream())
                .noneMatch(partition -> partition.reassignment().isInProgress());
    }

    boolean areFenced(Collection<Integer> nodeIds) {
        return quorum.controller() != null && nodeIds.stream().allMatch(nodeId -> image().liveBroker(nodeId) == null);
    }

    /** The leaders propose all replicas on live brokers as in-sync replicas, those of each leader in one request. */
    void replicasJoin() {
        while (true) {
            Map<Integer, List<InSyncProposal>> proposals = proposals();
            if (proposals.isEmpty()) {
                return;
            }
            List<CompletableFuture<?>> outcomes = new ArrayList<>();
            proposals.forEach((leader, ofLeader) -> outcomes.add(quorum.controller()
                    .alterPartitions(leader, brokers.get(leader).epoch(), ofLeader)));
            settle();
            if (!outcomes.stream().allMatch(CompletableFuture::isDone)
                    || outcomes.stream().anyMatch(CompletableFuture::isCompletedExceptionally)) {
                violations.report("TheClusterSettles", "a proposal of in-sync replicas has no outcome");
                return;
            }
        }
    }

    private Map<Integer, List<InSyncProposal>> proposals() {
        Map<Integer, List<InSyncProposal>> proposals = new TreeMap<>();
        MetadataImage image = image();
        for (TopicImage topic : image.topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                List<Integer> joining = partition.replicas().stream()
                        .filter(replica -> !partition.inSyncReplicas().contains(replica) && image.stays(replica))
                        .toList();
                if (partition.hasLeader() && !joining.isEmpty()) {
                    List<Integer> members = new ArrayList<>(partition.inSyncReplicas());
                    members.addAll(joining);
                    proposals
                            .computeIfAbsent(partition.leader(), none -> new ArrayList<>())
                            .add(proposal(topic, number, partition, members));
                }
            }
        }
        return proposals;
    }

    /** The proposal of the leader of a partition. */
    InSyncProposal proposal(TopicImage topic, int number, PartitionImage partition, List<Integer> members) {
        return new InSyncProposal(
                topic.id(),
                number,
                partition.leaderEpoch(),
                partition.partitionEpoch(),
                members.stream()
                        .map(member -> new InSyncProposal.Member(
                                member, brokers.get(member).epoch()))
                        .toList());
    }
}
