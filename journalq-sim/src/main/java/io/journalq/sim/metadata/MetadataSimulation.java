package io.journalq.sim.metadata;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import io.journalq.server.control.Controller.ReassignmentSpec;
import io.journalq.server.control.MetadataLogCodec;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.sim.metadata.MetadataCluster.Times;
import io.journalq.sim.metadata.MetadataResult.SnapshotCost;
import io.journalq.sim.metadata.MetadataResult.Spread;
import io.journalq.sim.world.Violations;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/**
 * Creates many topics on many brokers, lets brokers die and return, and moves one away. The deciders, the records and
 * their codec, the placement, the elections and the images are those of the broker. Everything else is simulated. The seed
 * determines everything except the costs. One thread.
 */
public final class MetadataSimulation {
    /** Limits of a batch, in changes of partitions and in bytes. A topic is created in one batch, whatever its size. */
    static final int MAX_BATCH_CHANGES = 1_000;

    static final int MAX_BATCH_BYTES = 256 * 1024;
    /** No batch is larger, because the quorum takes no larger one. */
    static final int LIMIT_BATCH_BYTES = 1024 * 1024;

    private static final int MAX_TOPIC_PARTITIONS = 10_000;
    /** The largest topic has this share of all partitions, if the limit allows that. */
    private static final int LARGEST_SHARE = 10;
    /** The other topics are this many times smaller than all together, at least. */
    private static final int OTHERS_SHARE = 250;

    private static final int TOPICS_PER_REQUEST = 20;
    private static final int MOVES_PER_REQUEST = 1_000;
    private static final int QUIET_MS = 60_000;
    private static final int CRASHED_TOGETHER = 3;
    /** The controller that fences a rack loses its term after this number of batches. */
    private static final int BATCHES_OF_A_TERM = 1;

    private final MetadataPlan plan;
    private final Random random;
    private final CostMeter meter;
    private final Violations violations = new Violations();
    private final MetadataChecks checks = new MetadataChecks(violations);
    private final CommittedLog log = new CommittedLog(this::onAppend);
    private final MetadataCluster cluster;
    private final List<Integer> sizes = new ArrayList<>();
    private final List<StepCost> steps = new ArrayList<>();
    private final List<Spread> spreads = new ArrayList<>();
    private String step = "begin";

    /** One step of the scenario. */
    private interface Step {
        void run();
    }

    private MetadataSimulation(MetadataPlan plan, Random random, CostMeter meter) throws IOException {
        this.plan = plan;
        this.random = random;
        this.meter = meter;
        this.cluster = new MetadataCluster(plan, random, violations, meter, log);
        cluster.broker(1).observer().publisher().addListener(checks::onDelta);
    }

    /**
     * Runs the scenario to its end.
     *
     * @param random determines everything, seeded with the seed of the plan
     */
    public static MetadataResult run(MetadataPlan plan, Random random, CostMeter meter) throws IOException {
        MetadataSimulation simulation = new MetadataSimulation(plan, random, meter);
        simulation.run();
        return new MetadataResult(
                simulation.log.hash(),
                simulation.sizes.size(),
                List.copyOf(simulation.steps),
                simulation.snapshot(),
                List.copyOf(simulation.spreads),
                simulation.violations.found());
    }

    private void onAppend(CommittedLog.Entry entry) {
        int changes = entry.creations() + entry.changes();
        boolean isLarge = entry.changes() > MAX_BATCH_CHANGES || entry.bytes() > MAX_BATCH_BYTES;
        boolean isOneTopic = entry.changes() == 0 && entry.topics() == 1;
        if ((isLarge && !isOneTopic) || entry.bytes() > LIMIT_BATCH_BYTES) {
            violations.report(
                    "BatchesAreBounded",
                    step + ": a batch with " + changes + " partitions of " + entry.topics() + " topics has "
                            + entry.bytes() + " bytes");
        }
    }

    // ---- the scenario

    private void run() {
        Set<Integer> all = new TreeSet<>();
        cluster.brokers().forEach(broker -> all.add(broker.nodeId()));
        measured("register " + plan.brokers() + " brokers", () -> {
            cluster.start(all);
            cluster.begin();
            cluster.await("live brokers", () -> cluster.areLive(all));
        });
        measured("create the topics", this::createTopics);
        String problem = new PlacementBound(sizes, plan.brokers()).problem(spread());
        if (problem != null) {
            violations.report("ReplicasAreSpread", problem);
        }
        measured("60 s without a change", () -> cluster.pass(QUIET_MS));
        measured("one replica leaves and joins", this::oneLeavesAndJoins);
        fail("a broker", Set.of(plan.brokers()), true);
        fail("a rack", rack(), false);
        fail("the controller and others", several(), true);
        drain(plan.brokers() / 2 + 1);
    }

    private void fail(String what, Set<Integer> victims, boolean reset) {
        if (!reset) {
            // All brokers of the rack are fenced at once. The first controller does not finish it.
            cluster.quorum().deposeAfter(BATCHES_OF_A_TERM);
        }
        measured("crash of " + what, () -> {
            cluster.crash(victims, reset);
            cluster.await("fenced brokers", () -> cluster.areFenced(victims));
        });
        cluster.quorum().keepTerm();
        spreads.add(MetadataChecks.spread(cluster.image(), step));
        measured("return of " + what, () -> {
            cluster.start(victims);
            cluster.await("live brokers", () -> cluster.areLive(victims));
        });
        measured("its replicas join", cluster::replicasJoin);
        measured("preferred leaders", () -> cluster.await("preferred leaders", this::leadersArePreferred));
        spread();
    }

    private Spread spread() {
        Spread spread = MetadataChecks.spread(cluster.image(), step);
        spreads.add(spread);
        return spread;
    }

    /** Whether each broker leads nine of ten partitions that prefer it, which is all that the controller cares for. */
    private boolean leadersArePreferred() {
        if (cluster.controller() == null) {
            return false;
        }
        Map<Integer, int[]> counts = new HashMap<>();
        for (TopicImage topic : cluster.image().topics()) {
            for (PartitionImage partition : topic.partitions()) {
                int[] count = counts.computeIfAbsent(partition.preferredLeader(), none -> new int[2]);
                count[0]++;
                count[1] += partition.leader() == partition.preferredLeader() ? 0 : 1;
            }
        }
        return counts.values().stream().allMatch(count -> count[1] * 10 <= count[0]);
    }

    private Set<Integer> rack() {
        String rack = cluster.broker(plan.brokers()).rack();
        Set<Integer> victims = new TreeSet<>();
        for (SimulatedBroker broker : cluster.brokers()) {
            // The quorum must live.
            if (broker.rack().equals(rack) && broker.nodeId() > MetadataPlan.VOTERS) {
                victims.add(broker.nodeId());
            }
        }
        return victims;
    }

    private Set<Integer> several() {
        Set<Integer> victims = new TreeSet<>();
        victims.add(cluster.quorum().leaderId());
        while (victims.size() < CRASHED_TOGETHER) {
            victims.add(MetadataPlan.VOTERS + 1 + random.nextInt(plan.brokers() - MetadataPlan.VOTERS));
        }
        return victims;
    }

    private void createTopics() {
        int left = plan.partitions();
        int largest = Math.min(MAX_TOPIC_PARTITIONS, Math.max(1, left / LARGEST_SHARE));
        int most = Math.max(1, 2 * left / OTHERS_SHARE);
        List<TopicSpec> request = new ArrayList<>();
        while (left > 0) {
            int size = sizes.isEmpty() ? largest : Math.min(left, 1 + random.nextInt(most));
            request.add(new TopicSpec(
                    "topic-" + sizes.size(),
                    size,
                    MetadataPlan.REPLICATION_FACTOR,
                    List.of(),
                    Map.of("min.insync.replicas", "2")));
            sizes.add(size);
            left -= size;
            if (request.size() == TOPICS_PER_REQUEST || left == 0) {
                CompletableFuture<List<Outcome>> created =
                        cluster.controller().createTopics(List.copyOf(request), false);
                cluster.settle();
                requireSuccess(created);
                request.clear();
            }
        }
    }

    /** In the largest topic, so that the cost shows whether a change of one partition depends on the others. */
    private void oneLeavesAndJoins() {
        TopicImage topic = cluster.image().topic("topic-0");
        PartitionImage partition = topic.partitions().get(0);
        int leader = partition.leader();
        InSyncProposal alone = cluster.proposal(topic, 0, partition, List.of(leader));
        var unused = cluster.controller()
                .alterPartitions(leader, cluster.broker(leader).epoch(), List.of(alone));
        cluster.settle();
        cluster.replicasJoin();
    }

    private void drain(int nodeId) {
        measured("drain a broker", () -> {
            List<ReassignmentSpec> moves = moves(nodeId);
            for (int first = 0; first < moves.size(); first += MOVES_PER_REQUEST) {
                CompletableFuture<List<Outcome>> begun = cluster.controller()
                        .reassign(moves.subList(first, Math.min(moves.size(), first + MOVES_PER_REQUEST)));
                cluster.settle();
                requireSuccess(begun);
            }
        });
        measured("its replicas move", () -> {
            cluster.replicasJoin();
            cluster.await("end of the moves", cluster::movesNothing);
        });
        measured("remove it", () -> {
            cluster.crash(Set.of(nodeId), true);
            cluster.await("fenced broker", () -> cluster.areFenced(Set.of(nodeId)));
            CompletableFuture<Outcome> removed = cluster.controller().unregister(nodeId);
            cluster.settle();
            requireSuccess(removed.thenApply(List::of));
        });
        if (cluster.image().broker(nodeId) != null) {
            violations.report("ADrainedBrokerIsRemoved", "broker " + nodeId + " is still registered");
        }
        spread();
    }

    /** Replaces a broker by the one with the fewest replicas in the racks that the partition does not use yet. */
    private List<ReassignmentSpec> moves(int nodeId) {
        Map<Integer, Integer> load = new HashMap<>();
        MetadataImage image = cluster.image();
        image.brokers().forEach(broker -> load.put(broker.nodeId(), 0));
        for (TopicImage topic : image.topics()) {
            topic.partitions()
                    .forEach(
                            partition -> partition.replicas().forEach(replica -> load.merge(replica, 1, Integer::sum)));
        }
        List<ReassignmentSpec> moves = new ArrayList<>();
        for (TopicImage topic : image.topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                List<Integer> replicas = topic.partitions().get(number).replicas();
                if (replicas.contains(nodeId)) {
                    int successor = successor(replicas, nodeId, load);
                    load.merge(successor, 1, Integer::sum);
                    moves.add(new ReassignmentSpec(
                            new TopicPartition(topic.name(), number),
                            replicas.stream()
                                    .map(replica -> replica == nodeId ? successor : replica)
                                    .toList(),
                            false));
                }
            }
        }
        return moves;
    }

    private int successor(List<Integer> replicas, int leaving, Map<Integer, Integer> load) {
        int best = 0;
        for (SimulatedBroker candidate : cluster.brokers()) {
            boolean isApart = candidate.nodeId() != leaving
                    && replicas.stream()
                            .filter(replica -> replica != leaving)
                            .noneMatch(replica -> cluster.broker(replica).rack().equals(candidate.rack()));
            if (isApart && (best == 0 || load.get(candidate.nodeId()) < load.get(best))) {
                best = candidate.nodeId();
            }
        }
        return best;
    }

    private void requireSuccess(CompletableFuture<List<Outcome>> operation) {
        if (!operation.isDone() || operation.isCompletedExceptionally()) {
            violations.report("OperationsSucceed", step + ": " + operation);
            return;
        }
        for (Outcome outcome : operation.join()) {
            if (outcome.error() != ErrorCode.NONE) {
                violations.report("OperationsSucceed", step + ": " + outcome);
            }
        }
    }

    // ---- what it costs

    private void measured(String name, Step body) {
        step = name;
        int began = log.size();
        var ignored = cluster.takeTimes();
        body.run();
        Times times = cluster.takeTimes();
        int changes = 0;
        long bytes = 0;
        int largest = 0;
        for (int index = began; index < log.size(); index++) {
            CommittedLog.Entry entry = log.entry(index);
            changes += entry.creations() + entry.changes();
            bytes += entry.bytes();
            largest = Math.max(largest, entry.bytes());
        }
        steps.add(new StepCost(
                name,
                log.size() - began,
                changes,
                bytes,
                largest,
                times.controllerNanos(),
                times.longestNanos(),
                times.allocatedBytes(),
                times.observerNanos()));
        checks.check(cluster.image(), name);
        compareImages();
    }

    /** Brokers that run have the same image. */
    private void compareImages() {
        MetadataImage expected = cluster.image();
        for (SimulatedBroker broker : cluster.brokers()) {
            if (broker.observer() != null
                    && broker.isRunning()
                    && !isSame(expected, broker.observer().image())) {
                violations.report("ImagesAreTheSame", step + ": that of broker " + broker.nodeId() + " differs");
            }
        }
    }

    private static boolean isSame(MetadataImage expected, MetadataImage image) {
        return expected.version() == image.version()
                && expected.clusterId().equals(image.clusterId())
                && expected.controller().equals(image.controller())
                && List.copyOf(expected.brokers()).equals(List.copyOf(image.brokers()))
                && List.copyOf(expected.topics()).equals(List.copyOf(image.topics()));
    }

    /** A broker that was away for long gets a snapshot. */
    private SnapshotCost snapshot() {
        Observer leader = cluster.quorum().leaderMetadata();
        ByteBuf written = Unpooled.buffer();
        long beganNanos = meter.nanos();
        MetadataLogCodec.writeRecords(
                leader.replica().snapshot(), leader.replica().level(), written);
        long writeNanos = meter.nanos() - beganNanos;
        long bytes = written.readableBytes();
        long heapBefore = meter.heapBytes();
        Observer restored = new Observer(1, plan.partitions(), log);
        beganNanos = meter.nanos();
        restored.replica().restore(read(written));
        long restoreNanos = meter.nanos() - beganNanos;
        long imageBytes = meter.heapBytes() - heapBefore;
        if (!isSame(leader.image(), restored.image())) {
            violations.report("ImagesAreTheSame", "that of a snapshot differs");
        }
        return new SnapshotCost(bytes, writeNanos, restoreNanos, imageBytes);
    }

    private static List<Message> read(ByteBuf snapshot) {
        try {
            return MetadataLogCodec.readRecords(snapshot);
        } catch (IOException unknown) {
            throw new UncheckedIOException(unknown);
        }
    }
}
