package io.journalq.sim;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.Message;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.sim.check.AcknowledgedByAllIsKept;
import io.journalq.sim.check.AcknowledgedIsKept;
import io.journalq.sim.check.BrokersShowTheSameMetadata;
import io.journalq.sim.check.ClusterReplicas;
import io.journalq.sim.check.ConsistentLosesNothing;
import io.journalq.sim.check.EpochsHaveOneLeader;
import io.journalq.sim.check.FencedBrokersLeadNothing;
import io.journalq.sim.check.HighWatermarkWaits;
import io.journalq.sim.check.IdsAreGivenOnce;
import io.journalq.sim.check.InSyncReplicasHoldTheCommitted;
import io.journalq.sim.check.LogsHaveNoGaps;
import io.journalq.sim.check.LoneAcknowledgementsAreBounded;
import io.journalq.sim.check.MetadataLogsArePrefixes;
import io.journalq.sim.check.NobodyCutsBelowItsHighWatermark;
import io.journalq.sim.check.OffsetsKeepTheirRecords;
import io.journalq.sim.check.PositionsAreKept;
import io.journalq.sim.check.PowerLosses;
import io.journalq.sim.check.ReplicasHoldTheSame;
import io.journalq.sim.cluster.ClusterClients;
import io.journalq.sim.cluster.ClusterListener;
import io.journalq.sim.cluster.ClusterPartition;
import io.journalq.sim.disk.SimDisk.CrashKind;
import io.journalq.sim.world.Interference;
import io.journalq.sim.world.Scheduler;
import io.journalq.sim.world.SimBroker;
import io.journalq.sim.world.SimMachine;
import io.journalq.sim.world.SimNetwork;
import io.journalq.sim.world.SimQuorum;
import io.journalq.sim.world.SimWorld;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Runs one seed of a cluster: brokers serve clients while machines crash, the network loses connections and directions,
 * and the quorum changes its leader or is lost. Then everything is healed, and compared with what was promised. The
 * seed determines everything. One thread.
 */
public final class ClusterSimulation implements ClusterListener, SimQuorum.Listener {
    /** Smallest and largest number of brokers. */
    public static final int MIN_BROKERS = 3;

    public static final int MAX_BROKERS = 7;

    private static final int NO_LIMIT = 1_000_000;
    private static final int GROUPS = 2;
    private static final int LONGEST_DOWN_MS = 1_500;
    private static final int LONGEST_SLOW_MS = 200;
    private static final int CHANGES_BEFORE_A_CRASH = 200;
    private static final int RESET_ODDS = 3;
    private static final long WATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    /** Everything has to be served again this long after the last fault. */
    private static final long HEALED_MS = 20_000;

    /** All requests have ended this long after the clients have stopped. */
    private static final long QUIET_MS = 3_000;

    /** No simulation lasts longer than this after the last fault. */
    private static final long LIMIT_MS = 3 * HEALED_MS;

    /** Time between two questions for the metadata. */
    private static final long ASK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final int FLUSHER_TICK_MS = 50;
    private static final int PARTS_PER_MILLION = 1_000_000;
    /** A loop that is busy looks later. */
    private static final int LONE_SLACK_MS = 60;

    private final long seed;
    private final Random random;
    private final Scheduler scheduler;
    private final Violations violations = new Violations();
    private final ClusterScenario scenario;
    private final SimWorld world;
    private final SimNetwork network;
    private final ClusterClients clients;
    private final MetadataLogsArePrefixes logs;
    private final IdsAreGivenOnce ids;
    private final AcknowledgedIsKept acknowledged;
    private final PowerLosses powerLosses;
    private final AcknowledgedByAllIsKept acknowledgedByAll;
    private final LoneAcknowledgementsAreBounded acknowledgedAlone;
    private final ConsistentLosesNothing consistent;
    private final LogsHaveNoGaps gaps;
    /** The processes whose logs were checked when they had begun to serve. */
    private final Map<Integer, SimBroker> recovered = new HashMap<>();

    private final InSyncReplicasHoldTheCommitted inSync;
    private final EpochsHaveOneLeader epochs;
    private final FencedBrokersLeadNothing fenced;
    private final HighWatermarkWaits highWatermarks;
    private final NobodyCutsBelowItsHighWatermark cuts;
    private final ReplicasHoldTheSame replicas;
    private final OffsetsKeepTheirRecords offsets;
    private final PositionsAreKept positions;
    private final BrokersShowTheSameMetadata metadata;
    private boolean healed;
    private boolean asking;
    private int crashes;

    private ClusterSimulation(int brokers, long seed, Interference interference) {
        this.seed = seed;
        this.random = new Random(seed);
        this.scheduler = new Scheduler(random);
        this.scenario = ClusterScenario.of(brokers, random);
        this.logs = new MetadataLogsArePrefixes(
                violations, new MetadataMachine(new MetadataMachine.Limits(0, 1, NO_LIMIT, NO_LIMIT)));
        this.ids = new IdsAreGivenOnce(violations);
        this.offsets = new OffsetsKeepTheirRecords(violations);
        this.acknowledged = new AcknowledgedIsKept(violations, lossBoundMs(scenario));
        this.powerLosses = new PowerLosses(logs::newest, lossBoundMs(scenario));
        this.acknowledgedByAll = new AcknowledgedByAllIsKept(violations, powerLosses);
        this.acknowledgedAlone = new LoneAcknowledgementsAreBounded(violations, powerLosses, loneBoundMs(scenario));
        this.consistent = new ConsistentLosesNothing(violations);
        this.gaps = new LogsHaveNoGaps(violations, ClusterScenario.DATA);
        this.inSync = new InSyncReplicasHoldTheCommitted(violations);
        this.epochs = new EpochsHaveOneLeader(violations);
        this.fenced = new FencedBrokersLeadNothing(violations);
        this.highWatermarks = new HighWatermarkWaits(violations);
        this.cuts = new NobodyCutsBelowItsHighWatermark(violations);
        this.replicas = new ReplicasHoldTheSame(violations, ClusterScenario.DATA);
        this.world =
                new SimWorld(scenario.world(), scheduler, random, violations, scenario.quorum(), interference, this);
        this.network = world.network();
        this.positions = new PositionsAreKept(violations);
        this.metadata = new BrokersShowTheSameMetadata(world);
        this.clients =
                new ClusterClients(world, random, this, scenario.topics(), scenario.replicates(), groups(interference));
    }

    /** Planted bugs concern partitions. Each is searched in few seeds, and groups would make these slower. */
    private static int groups(Interference interference) {
        return interference == Interference.NONE ? GROUPS : 0;
    }

    /** What a power loss can take in mode {@code eventual}, see docs/explanation/durability.md. */
    private static long lossBoundMs(ClusterScenario scenario) {
        long roundMs = FLUSHER_TICK_MS / 2 + 5 * scenario.world().longestPoolDelayMs();
        // Measured by the clock of the machine, which may be slow.
        long intervalMs = scenario.flushIntervalMs() + FLUSHER_TICK_MS;
        return intervalMs + intervalMs * scenario.world().largestDriftPpm() / PARTS_PER_MILLION + 2 * roundMs;
    }

    /** How much a leader can acknowledge that no other in-sync replica has. */
    private static long loneBoundMs(ClusterScenario scenario) {
        long lagMs = ClusterScenario.REPLICATION_LAG_MS;
        return lagMs + lagMs * scenario.world().largestDriftPpm() / PARTS_PER_MILLION + LONE_SLACK_MS;
    }

    /** Runs one seed to its end, or to the first violation. */
    public static SimResult run(int brokers, long seed) {
        return run(brokers, seed, Interference.NONE);
    }

    /** Like {@link #run(int, long)}, with a planted bug. */
    static SimResult run(int brokers, long seed, Interference planted) {
        ClusterSimulation simulation = new ClusterSimulation(brokers, seed, planted);
        Defects.listen(simulation.violations);
        try {
            simulation.run();
        } catch (RuntimeException | AssertionError defect) {
            simulation.violations.report("NoDefects", Defects.describe(defect));
        }
        return simulation.result();
    }

    private SimResult result() {
        if (!violations.isEmpty()) {
            violations.report("Circumstances", scenario.toString());
        }
        return new SimResult(
                seed,
                scheduler.trace().hash(),
                scheduler.trace().events(),
                crashes,
                acknowledged.records()
                        + acknowledgedByAll.records()
                        + acknowledgedAlone.records()
                        + consistent.records(),
                Map.of(),
                violations.found());
    }

    private void run() {
        world.machines().forEach(SimMachine::start);
        clients.start();
        watch();
        disturbLater();
        scheduler.after(TimeUnit.MILLISECONDS.toNanos(scenario.durationMs()), this::heal);
        scheduler.runUntil(() -> healed);
        if (!completes("BrokersServeAfterHealing", this::isServed)) {
            return;
        }
        if (!completesQuietly(this::showsTheSame)) {
            metadata.check();
            return;
        }
        clients.stop();
        long quietMs = scheduler.nowMs() + QUIET_MS;
        scheduler.runUntil(() -> scheduler.nowMs() >= quietMs);
        acknowledged.onReadBack();
        acknowledgedByAll.onReadBack();
        acknowledgedAlone.onReadBack();
        consistent.onReadBack();
        clients.readEverything();
        if (completes("EverythingIsReadable", clients::isEverythingRead)) {
            acknowledged.check();
            acknowledgedByAll.check();
            acknowledgedAlone.check();
            consistent.check();
        }
        if (violations.isEmpty()
                && completes("ReplicasCatchUp", () -> replicasNow().areEqual())) {
            replicas.check(
                    logs.newest(),
                    world.machines().stream()
                            .map(machine -> machine.node().id())
                            .toList(),
                    id -> world.machine(id).node().disk());
        }
    }

    // ---- faults

    private void disturbLater() {
        scheduler.later(TimeUnit.MILLISECONDS.toNanos(scenario.longestCalmMs()), () -> {
            if (!healed) {
                disturb();
                disturbLater();
            }
        });
    }

    private void disturb() {
        int brokers = world.machines().size();
        int one = 1 + random.nextInt(brokers);
        int other = 1 + random.nextInt(brokers);
        switch (random.nextInt(9)) {
            case 0, 1 -> crash(world.machine(one));
            case 2 ->
                world.machines().stream()
                        .filter(machine -> random.nextInt(3) > 0)
                        .forEach(this::crash);
            case 3 -> network.cut(one, other);
            case 4 -> isolate(one);
            case 5 -> network.cut(SimNetwork.CLIENTS, one);
            case 6 -> network.slow(one, other, 1 + random.nextInt(LONGEST_SLOW_MS));
            case 7 -> network.resetSome(RESET_ODDS);
            default -> world.machine(one).node().disk().crashAfter(1 + random.nextInt(CHANGES_BEFORE_A_CRASH));
        }
        if (random.nextInt(3) == 0) {
            network.heal();
        }
    }

    private void isolate(int one) {
        for (SimMachine machine : world.machines()) {
            int other = machine.node().id();
            if (other != one) {
                network.cut(one, other);
                network.cut(other, one);
            }
        }
    }

    private CrashKind anyKind() {
        return random.nextBoolean() && scenario.losesPower() ? CrashKind.POWER_LOSS : CrashKind.KILL;
    }

    private void crash(SimMachine machine) {
        if (!machine.isDown()) {
            CrashKind kind = anyKind();
            machine.crash(kind);
            onCrash(machine, kind);
        }
    }

    private void onCrash(SimMachine machine, CrashKind kind) {
        crashes++;
        scheduler.trace().add(machine.node().id(), machine.node().disk().changes());
        if (kind == CrashKind.POWER_LOSS) {
            acknowledged.onPowerLoss(machine.node().id(), machine.servedUntilMs());
            powerLosses.add(machine.node().id(), machine.servedUntilMs(), scheduler.nowMs());
            cuts.onPowerLoss(logs.newest(), machine.node().id());
        }
        scheduler.later(TimeUnit.MILLISECONDS.toNanos(LONGEST_DOWN_MS), () -> restart(machine));
    }

    private static void restart(SimMachine machine) {
        if (machine.isDown()) {
            machine.start();
        }
    }

    /** Notices processes that crashed in a call of their disk. */
    private void watch() {
        CrashKind kind = anyKind();
        world.collectCrashed(kind).forEach(machine -> onCrash(machine, kind));
        ClusterReplicas now = replicasNow();
        epochs.onReplicas(now);
        inSync.onReplicas(now);
        highWatermarks.onReplicas(now);
        cuts.onReplicas(now);
        if (!violations.isEmpty()) {
            scheduler.stop();
        }
        scheduler.after(WATCH_NANOS, this::watch);
    }

    private ClusterReplicas replicasNow() {
        ClusterReplicas now = new ClusterReplicas(logs.newest());
        for (SimMachine machine : world.machines()) {
            if (machine.broker() != null && machine.broker().isRunning()) {
                now.add(machine.node().id(), machine.broker().replicas());
                if (recovered.put(machine.node().id(), machine.broker()) != machine.broker()) {
                    gaps.onRecovered(
                            logs.newest(), machine.node().id(), machine.node().disk());
                }
            }
        }
        return now;
    }

    private void heal() {
        healed = true;
        clients.stopMoving();
        scheduler.after(TimeUnit.MILLISECONDS.toNanos(LIMIT_MS), this::giveUp);
        network.heal();
        for (SimMachine machine : world.machines()) {
            machine.node().disk().crashNever();
            restart(machine);
        }
    }

    /** A broker that waits within another one keeps the simulation from going on, so that it is stopped. */
    private void giveUp() {
        report("BrokersServeAfterHealing");
        scheduler.stop();
    }

    // ---- after healing

    private boolean isServed() {
        MetadataImage newest = logs.newest();
        return world.machines().stream()
                        .allMatch(machine -> machine.broker() != null
                                && machine.broker().isRunning()
                                && newest.liveBroker(machine.node().id()) != null)
                && newest.topics().stream().allMatch(topic -> topic.partitions().stream()
                        .allMatch(partition -> partition.hasLeader()
                                && !partition.reassignment().isInProgress()));
    }

    private boolean showsTheSame() {
        if (metadata.isSame()) {
            return true;
        }
        if (metadata.isKnown() && !asking) {
            asking = true;
            scheduler.after(ASK_NANOS, () -> {
                asking = false;
                metadata.ask();
            });
        }
        return false;
    }

    private boolean completes(String invariant, BooleanSupplier done) {
        boolean complete = completesQuietly(done);
        if (!complete && violations.isEmpty()) {
            report(invariant);
        }
        return complete && violations.isEmpty();
    }

    private void report(String invariant) {
        StringBuilder state = new StringBuilder();
        for (SimMachine machine : world.machines()) {
            state.append(" broker ")
                    .append(machine.node().id())
                    .append(machine.broker() != null ? " serves," : machine.isDown() ? " is down," : " starts,");
        }
        violations.report(invariant, "not soon after healing:" + state + clients.unread() + replicasNow());
    }

    private boolean completesQuietly(BooleanSupplier done) {
        long limitMs = scheduler.nowMs() + HEALED_MS;
        metadata.ask();
        scheduler.runUntil(() -> scheduler.nowMs() > limitMs || !violations.isEmpty() || done.getAsBoolean());
        return violations.isEmpty() && done.getAsBoolean();
    }

    // ---- what brokers and clients learn

    @Override
    public void onReplay(int nodeId, long offset, List<Message> records) {
        scheduler.trace().add(nodeId, offset);
        ids.onReplay(offset, records);
        if (logs.onReplay(nodeId, offset, records)) {
            epochs.onMetadata(logs.newest());
            fenced.onMetadata(logs.newest());
            cuts.onMetadata(logs.newest());
        }
    }

    @Override
    public void onRestore(int nodeId, long offset, List<Message> snapshot) {
        scheduler.trace().add(nodeId, -offset);
        logs.onRestore(nodeId, offset, snapshot);
    }

    @Override
    public void onAcknowledged(ClusterPartition partition, int leader, long offset, String id) {
        scheduler.trace().add(id.hashCode(), offset);
        if (partition.replicated() && partition.isConsistent()) {
            consistent.onAcknowledged(partition, leader, offset, id);
        } else if (partition.replicated() && partition.isAcknowledgedAlone()) {
            if (hasOthersInSync(partition)) {
                acknowledgedAlone.onAcknowledged(
                        partition, leader, epochOf(partition, leader), offset, id, scheduler.nowMs());
            }
        } else if (partition.replicated()) {
            acknowledgedByAll.onAcknowledged(partition, leader, offset, id, scheduler.nowMs());
        } else {
            acknowledged.onAcknowledged(partition, leader, offset, id, scheduler.nowMs());
        }
    }

    private boolean hasOthersInSync(ClusterPartition partition) {
        return logs.newest()
                        .topic(partition.topic())
                        .partitions()
                        .get(partition.number())
                        .inSyncReplicas()
                        .size()
                > 1;
    }

    /** The epoch in which a broker leads a partition at the moment. */
    private int epochOf(ClusterPartition partition, int leader) {
        return world.machine(leader).broker().replicas().stream()
                .filter(replica -> replica.name().topic().equals(partition.topic())
                        && replica.name().partition() == partition.number())
                .mapToInt(ReplicaStatus::leaderEpoch)
                .findFirst()
                .orElse(-1);
    }

    @Override
    public void onRead(ClusterPartition partition, long offset, int epoch, String id) {
        offsets.onRead(partition, offset, epoch, id);
        if (partition.replicated() && partition.isConsistent()) {
            consistent.onRead(partition, offset, id);
        } else if (partition.replicated() && partition.isAcknowledgedAlone()) {
            acknowledgedAlone.onRead(partition, offset, id, scheduler.nowMs());
        } else if (partition.replicated()) {
            acknowledgedByAll.onRead(partition, offset, id, scheduler.nowMs());
        } else {
            acknowledged.onRead(partition, offset, id);
        }
    }

    @Override
    public void onCommitted(String group, long offset) {
        scheduler.trace().add(group.hashCode(), offset);
        positions.onCommitted(group, offset);
    }

    @Override
    public void onCommitUnknown(String group, long offset) {
        positions.onUnknown(group, offset);
    }

    @Override
    public void onPosition(String group, long offset) {
        if (!scenario.losesPower()) {
            positions.onRead(group, offset);
        }
    }

    @Override
    public void onProducerId(long producerId) {
        ids.onProducerId(producerId);
    }

    @Override
    public void onTopic(String name, Uuid id) {
        ids.onTopic(name, id);
    }
}
