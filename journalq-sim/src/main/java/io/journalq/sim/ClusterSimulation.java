package io.journalq.sim;

import io.journalq.server.metadata.MetadataImage;
import io.journalq.sim.check.BrokersShowTheSameMetadata;
import io.journalq.sim.check.BrokersWithRoomLead;
import io.journalq.sim.check.ClusterReplicas;
import io.journalq.sim.check.FailedReplicasAreReplaced;
import io.journalq.sim.check.LastStableOffsetMovesOn;
import io.journalq.sim.cluster.ClusterClients;
import io.journalq.sim.cluster.CopyJob;
import io.journalq.sim.world.Interference;
import io.journalq.sim.world.Scheduler;
import io.journalq.sim.world.SimMachine;
import io.journalq.sim.world.SimWorld;
import io.journalq.sim.world.Violations;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Runs one seed of a cluster: brokers serve clients while machines crash, the network loses connections and directions,
 * and the quorum changes its leader or is lost. Then everything is healed, and compared with what was promised. The
 * seed determines everything. One thread.
 */
public final class ClusterSimulation {
    /** Smallest and largest number of brokers. */
    public static final int MIN_BROKERS = 3;

    public static final int MAX_BROKERS = 7;

    private static final int GROUPS = 2;
    private static final int JOBS = 2;
    /** Enough for the first transactions. */
    private static final long CALM_MS = 1_500;
    /** How long clients work after the last fault. Enough for a transaction. */
    private static final long AFTERWARDS_MS = 200;

    private static final int LOSS_ODDS = 3;
    private static final long WATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    /** The last disk fails within a flush interval and this time. */
    private static final long FAILED_MS = 200;

    /** A replica whose disk has failed may come back once, while its last fetch waits at the leader. */
    private static final long STAYS_OUT_MS = 1_000;

    /** Everything has to be served again this long after the last fault. */
    private static final long HEALED_MS = 20_000;

    /** A broker that could not heal a segment tries again after 1 s, 2 s, 4 s and so on. */
    private static final long LONGEST_HEALING_MS = 20_000;

    /** One seed in this number has a full disk in the end. */
    private static final int FULL_ODDS = 4;

    /** All requests have ended this long after the clients have stopped. */
    private static final long QUIET_MS = 3_000;

    /** Time between two questions for the metadata. */
    private static final long ASK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final long seed;
    private final Scheduler scheduler;
    private final Violations violations = new Violations();
    private final ClusterScenario scenario;
    private final SimWorld world;
    private final ClusterPromises promises;
    private final ClusterFaults faults;
    private final ClusterClients clients;
    private final BrokersShowTheSameMetadata metadata;
    /** How long clients work before the first fault. */
    private final long calmMs;

    private final long afterwardsMs;

    private boolean healed;
    private boolean asking;

    private ClusterSimulation(int brokers, long seed, Interference interference) {
        this.seed = seed;
        Random random = new Random(seed);
        this.scheduler = new Scheduler(random);
        this.scenario = ClusterScenario.of(brokers, random);
        this.promises = new ClusterPromises(scenario, scheduler, random, violations, this::machine, this::job);
        this.world = new SimWorld(
                scenario.world(), scheduler, random, violations, scenario.quorum(), interference, promises);
        this.metadata = new BrokersShowTheSameMetadata(world);
        boolean transactional = jobs(interference) > 0;
        this.calmMs = transactional ? CALM_MS : 0;
        this.afterwardsMs = transactional ? AFTERWARDS_MS : 0;
        int loser = losesFiles(interference) ? 1 + (int) (seed / LOSS_ODDS % brokers) : 0;
        this.faults = new ClusterFaults(scenario, random, world, promises, transactional, calmMs, loser);
        this.clients = new ClusterClients(
                world,
                random,
                promises,
                new ClusterClients.Plan(
                        scenario.topics(),
                        scenario.replicates(),
                        scenario.leastReplicas(),
                        groups(interference),
                        jobs(interference),
                        partition -> partition.isConsistent() || !scenario.losesPower()));
    }

    /** Jobs copy only between partitions that lose nothing which was acknowledged to their producers or seen. */
    private static int jobs(Interference interference) {
        return interference == Interference.NONE || interference.concernsTransactions() ? JOBS : 0;
    }

    /** Planted bugs concern partitions. Each is searched in few seeds, and groups would make these slower. */
    private static int groups(Interference interference) {
        return interference == Interference.NONE ? GROUPS : 0;
    }

    /**
     * Whether a broker loses files. Only without write-ahead files: a broker refuses to start if their records do not
     * continue the logs.
     */
    private boolean losesFiles(Interference interference) {
        boolean wanted = interference == Interference.NONE ? seed % LOSS_ODDS == 0 : interference.keepsQuietAboutLoss();
        return wanted && !scenario.writesAhead();
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
        } finally {
            simulation.scheduler.end();
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
                faults.crashes(),
                promises.records(),
                promises.work(),
                violations.found());
    }

    private void run() {
        world.machines().forEach(SimMachine::start);
        clients.start();
        watch();
        faults.start();
        scheduler.after(TimeUnit.MILLISECONDS.toNanos(calmMs + scenario.durationMs()), this::heal);
        scheduler.runUntil(() -> healed);
        // A partition cannot move before its damage is healed.
        long servedMs = scenario.damages() ? HEALED_MS + LONGEST_HEALING_MS : HEALED_MS;
        if (!replacesFailed() || !completes("BrokersServeAfterHealing", servedMs, this::isServed)) {
            return;
        }
        if (faults.failLast()) {
            runFor(scenario.flushIntervalMs() + FAILED_MS);
            faults.spareDisks();
            if (!replacesFailedForGood() || !completes("BrokersServeAfterHealing", this::isServed)) {
                return;
            }
        }
        if (!leadsWithRoom()) {
            return;
        }
        runFor(afterwardsMs);
        if (!completesQuietly(this::showsTheSame)) {
            metadata.check();
            return;
        }
        clients.stop();
        runFor(QUIET_MS);
        if (!completesQuietly(LONGEST_HEALING_MS, promises::isHealed)) {
            promises.checkHealed(replicasNow());
            return;
        }
        if (!clients.jobs().isEmpty() && !readsCommitted()) {
            return;
        }
        // Consumers see the records that a leader found at its start when enough replicas are in sync.
        completesQuietly(() -> replicasNow().areEqual());
        promises.onReadBack();
        clients.readEverything(promises.keepsPositions());
        if (completes("EverythingIsReadable", clients::isEverythingRead)) {
            promises.checkRead(clients);
        }
        if (violations.isEmpty()
                && completes("ReplicasCatchUp", () -> replicasNow().areEqual())) {
            promises.checkFiles(world.machines());
            if (!clients.jobs().isEmpty()) {
                checkReplicas();
            }
        }
    }

    private void runFor(long ms) {
        long endMs = scheduler.nowMs() + ms;
        scheduler.runUntil(() -> scheduler.nowMs() >= endMs || !violations.isEmpty());
    }

    /** Waits until others lead what failed disks have led, and restarts the brokers of these. */
    private boolean replacesFailed() {
        boolean replaced = completes("FailedReplicasAreReplaced", this::hasReplaced);
        faults.restartFailed();
        return replaced;
    }

    /** Also, what has failed stays out until then. */
    private boolean replacesFailedForGood() {
        if (!completes("FailedReplicasAreReplaced", this::hasReplaced)) {
            return false;
        }
        Set<FailedReplicasAreReplaced.Failed> out = FailedReplicasAreReplaced.out(replicasNow());
        runFor(STAYS_OUT_MS);
        if (!FailedReplicasAreReplaced.out(replicasNow()).containsAll(out)) {
            report("FailedReplicasAreReplaced", "what has failed is back:");
        }
        // A leader may have been the only one in sync until now.
        return replacesFailed();
    }

    /** Waits until others lead what a broker has led whose disk is almost full; in some seeds only, because it takes time. */
    private boolean leadsWithRoom() {
        if (seed % FULL_ODDS != 0) {
            return true;
        }
        int full = 1 + (int) (seed / FULL_ODDS % world.machines().size());
        faults.fill(full, true);
        boolean led = completes(
                "BrokersWithRoomLead",
                () -> BrokersWithRoomLead.holds(
                        promises.metadata(), id -> machine(id).node().disk().hasRoom()));
        faults.fill(full, false);
        return led;
    }

    private boolean hasReplaced() {
        return FailedReplicasAreReplaced.holds(replicasNow());
    }

    /** Reads the committed records of all partitions, which ends when all transactions have ended. */
    private boolean readsCommitted() {
        clients.readCommitted();
        if (!completesQuietly(() -> LastStableOffsetMovesOn.isReached(clients.committed()))) {
            promises.checkEnded(clients.committed());
            return false;
        }
        return completes("EverythingIsReadable", clients::isCommittedRead);
    }

    /** Compares what consumers of each replica see of transactions. */
    private void checkReplicas() {
        clients.readReplicas();
        if (completes("EverythingIsReadable", clients::areReplicasRead)) {
            promises.checkReplicas(clients);
        }
    }

    private SimMachine machine(int id) {
        return world.machine(id);
    }

    private CopyJob job(String group) {
        return clients.job(group);
    }

    /** Checks what holds at any time. */
    private void watch() {
        faults.collectCrashed();
        promises.onReplicas(replicasNow());
        if (!violations.isEmpty()) {
            scheduler.stop();
        }
        scheduler.after(WATCH_NANOS, this::watch);
    }

    private ClusterReplicas replicasNow() {
        return promises.replicas(world.machines());
    }

    private void heal() {
        healed = true;
        clients.stopMoving();
        faults.heal();
    }

    // ---- after healing

    private boolean isServed() {
        MetadataImage newest = promises.metadata();
        return world.machines().stream()
                        .allMatch(machine -> machine.broker() != null
                                && machine.broker().isRunning()
                                && !machine.isLeaving()
                                && newest.liveBroker(machine.node().id()) != null)
                && newest.topics().stream().allMatch(topic -> topic.partitions().stream()
                        .allMatch(partition -> partition.hasLeader()
                                && !partition.reassignment().isInProgress()));
    }

    private boolean showsTheSame() {
        if (metadata.isSame()) {
            return true;
        }
        // A broker that stops meanwhile does not respond.
        if (!asking) {
            asking = true;
            scheduler.after(ASK_NANOS, () -> {
                asking = false;
                metadata.ask();
            });
        }
        return false;
    }

    private boolean completes(String invariant, BooleanSupplier done) {
        return completes(invariant, HEALED_MS, done);
    }

    private boolean completes(String invariant, long withinMs, BooleanSupplier done) {
        boolean complete = completesQuietly(withinMs, done);
        if (!complete && violations.isEmpty()) {
            report(invariant, "not soon after healing:");
        }
        return complete && violations.isEmpty();
    }

    private void report(String invariant, String what) {
        StringBuilder state = new StringBuilder(what);
        for (SimMachine machine : world.machines()) {
            state.append(" broker ")
                    .append(machine.node().id())
                    .append(machine.broker() != null ? " serves," : machine.isDown() ? " is down," : " starts,");
        }
        violations.report(invariant, state + clients.unread() + replicasNow());
    }

    private boolean completesQuietly(BooleanSupplier done) {
        return completesQuietly(HEALED_MS, done);
    }

    private boolean completesQuietly(long withinMs, BooleanSupplier done) {
        long limitMs = scheduler.nowMs() + withinMs;
        metadata.ask();
        scheduler.runUntil(() -> scheduler.nowMs() > limitMs || !violations.isEmpty() || done.getAsBoolean());
        return violations.isEmpty() && done.getAsBoolean();
    }
}
