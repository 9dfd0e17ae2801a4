package io.journalq.sim;

import io.journalq.sim.check.CommitsAreKept;
import io.journalq.sim.check.CommittedViewIsRight;
import io.journalq.sim.check.DamageIsContained;
import io.journalq.sim.check.LogIsSound;
import io.journalq.sim.check.NothingAcknowledgedIsLost;
import io.journalq.sim.check.SeenContent;
import io.journalq.sim.check.TransactionsAreWhole;
import io.journalq.sim.disk.DiskFaults;
import io.journalq.sim.disk.SimDisk;
import io.journalq.sim.disk.SimDisk.CrashKind;
import io.journalq.sim.disk.SimDisk.Damage;
import io.journalq.sim.workload.CommitHistory;
import io.journalq.sim.workload.CommittedOffsetQuery;
import io.journalq.sim.workload.LogReader;
import io.journalq.sim.workload.ReadBack;
import io.journalq.sim.workload.TopicInventory;
import io.journalq.sim.workload.World;
import io.journalq.sim.world.Interference;
import io.journalq.sim.world.Scheduler;
import io.journalq.sim.world.SimBroker;
import io.journalq.sim.world.SimClock;
import io.journalq.sim.world.SimNode;
import io.journalq.sim.world.SimSlices;
import io.journalq.sim.world.Violations;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Runs one seed: a broker starts, serves clients and crashes, several times. After each start, everything that it
 * guarantees is compared with everything that it has. Then {@link FollowerLogs} runs with the same seed. The seed
 * determines everything. One thread.
 */
public final class Simulation {
    private static final long LIFE_MS = 400;
    private static final long CHECK_MS = 60_000;
    /** A restarted broker writes the markers of decided transactions within this time. */
    private static final long MARKERS_MS = 10_000;

    private static final long MARKERS_PAUSE_MS = 100;
    private static final int CHANGES_IN_A_LIFE = 400;
    private static final int CHANGES_IN_A_START = 30;
    private static final int MOST_FAULTY_STARTS = 3;
    private static final int FLUSHER_TICK_MS = 50;
    private static final int NODE_ID = 0;

    private final long seed;
    private final Random random;
    private final Scheduler scheduler;
    private final Violations violations = new Violations();
    private final SimNode node;
    private final SimDisk disk;
    private final Scenario scenario;
    private final SimSlices slices;
    private final SimBroker.Plan plan;
    private final World world;
    private final SimClients clients;
    private final DamageIsContained damage = new DamageIsContained(violations);
    private final NothingAcknowledgedIsLost losses = new NothingAcknowledgedIsLost(violations, damage);
    private final TransactionsAreWhole transactions = new TransactionsAreWhole(violations);
    private final LogIsSound soundness = new LogIsSound(violations);
    private final CommitsAreKept commits;
    private final CommittedViewIsRight committedView = new CommittedViewIsRight(violations);
    private Interference interference = Interference.NONE;
    private SimBroker broker;
    private NothingAcknowledgedIsLost.End lastEnd;
    private int crashes;

    /** The broker could not be started any more, for an expected reason. */
    private boolean stopped;

    private Simulation(long seed) {
        this.seed = seed;
        this.random = new Random(seed);
        this.scheduler = new Scheduler(random);
        this.node = new SimNode(NODE_ID, scheduler, random, new SimClock(scheduler), scheduler::stop);
        this.disk = node.disk();
        this.scenario = Scenario.of(random);
        this.slices = new SimSlices(random, disk, scenario.faults().writeErrorOdds());
        this.plan =
                new SimBroker.Plan(scenario.config(random), slices, scenario.loops(), scenario.longestPoolDelayMs());
        this.world = new World(scheduler, random, violations, new SeenContent(violations));
        if (scenario.faults().capacityBytes() < Long.MAX_VALUE) {
            world.setDiskFillsUp();
        }
        this.clients = new SimClients(world, random);
        this.commits = new CommitsAreKept(violations, scenario.consistent(), scenario.flushIntervalMs());
    }

    /** Runs one seed to its end, or to the first violation. */
    public static SimResult run(long seed) {
        return run(seed, Interference.NONE);
    }

    /**
     * Like {@link #run(long)}, but on a disk that reports each fsync as done without doing it. No guarantee can be kept
     * on such a disk.
     */
    static SimResult runOnALyingDisk(long seed) {
        Simulation simulation = new Simulation(seed);
        simulation.disk.lie();
        return run(simulation);
    }

    /** Like {@link #run(long)}, with a bug planted between the broker and its clients. */
    static SimResult run(long seed, Interference planted) {
        Simulation simulation = new Simulation(seed);
        simulation.interference = planted;
        return run(simulation).and(FollowerLogs.run(seed, planted));
    }

    private static SimResult run(Simulation simulation) {
        Defects.listen(simulation.violations, simulation::onLog);
        try {
            simulation.run();
        } catch (RuntimeException | AssertionError defect) {
            simulation.violations.report("NoDefects", Defects.describe(defect));
        }
        return simulation.result();
    }

    private void onLog(String text) {
        if (interference.logs(text)) {
            damage.onLog(text);
        }
    }

    private SimResult result() {
        if (!violations.isEmpty()) {
            violations.report("Circumstances", scenario + ", the previous life ended with " + lastEnd);
        }
        return new SimResult(
                seed,
                scheduler.trace().hash(),
                scheduler.trace().events(),
                crashes,
                world.records(),
                new TreeMap<>(world.work()),
                violations.found());
    }

    private void run() {
        for (int life = 0; life < scenario.lives() && violations.isEmpty() && !stopped; life++) {
            live(life == 0, life == scenario.lives() - 1);
        }
    }

    private void live(boolean first, boolean last) {
        start(first);
        if (!violations.isEmpty() || stopped) {
            return;
        }
        if (first) {
            clients.createTopics();
        } else {
            check();
        }
        if (last || !violations.isEmpty()) {
            return;
        }
        clients.start();
        node.forgetSlowness();
        disk.setFaults(scenario.faults());
        if (random.nextInt(4) > 0) {
            disk.crashAfter(1 + random.nextInt(CHANGES_IN_A_LIFE));
        }
        long endMs = scheduler.nowMs() + 1 + random.nextInt((int) LIFE_MS);
        scheduler.runUntil(() -> scheduler.nowMs() >= endMs || !violations.isEmpty());
        checkFetches();
        if (!disk.isDead() && violations.isEmpty() && random.nextInt(4) == 0) {
            stop();
        }
        crash();
    }

    /** A fetch waits for records no longer than it asks for, also while there are none. */
    private void checkFetches() {
        long overdueMs = broker.overdueMs();
        if (overdueMs > slackMs()) {
            violations.report(
                    "EveryRequestGetsAResponse", "a fetch waits " + overdueMs + " ms longer than it asked for");
        }
    }

    /** How much longer work may take that needs a disk or a thread of the pool. */
    private long slackMs() {
        return FLUSHER_TICK_MS + 3 * scenario.longestPoolDelayMs() + node.slowMs();
    }

    /** Stops the broker as an operator does. It may crash meanwhile. */
    private void stop() {
        try {
            broker.stop();
        } catch (IOException | SimDisk.Crash | IllegalStateException interrupted) {
            scheduler.trace().add(3, scheduler.nowNanos());
        }
    }

    private void crash() {
        CrashKind kind = random.nextInt(scenario.powerLossOdds()) == 0 ? CrashKind.POWER_LOSS : CrashKind.KILL;
        crashes++;
        node.crash();
        clients.stop();
        if (broker != null) {
            broker.forget();
            broker = null;
        }
        scheduler.clear();
        scheduler.trace().add(kind.name().hashCode(), disk.changes());
        long slackMs = slackMs();
        boolean powerLost = kind == CrashKind.POWER_LOSS;
        long atMs = Math.min(scheduler.nowMs(), node.firstFailedSyncMs());
        if (lastEnd != null) {
            // The broker crashed again before it could be checked. The effects of both ends count.
            powerLost |= lastEnd.powerLost();
            atMs = Math.min(atMs, lastEnd.atMs());
        }
        for (Damage bit : node.restart(kind)) {
            damage.onDamage(bit);
            interference.onDamage(disk, bit);
        }
        if (scenario.faults().misdirectOdds() > 0) {
            damage.onMisdirectedWrites();
        }
        slices.restart(kind);
        lastEnd = new NothingAcknowledgedIsLost.End(
                powerLost, disk.isHarmed(), scenario.faults().refusesWrites(), atMs, slackMs);
        if (disk.isHarmed() || (powerLost && !scenario.consistent())) {
            clients.forgetGroups();
        }
        if (disk.isHarmed()) {
            world.setHarmed();
        }
    }

    /** Starts the broker. If a start fails because of faults or a crash, starts it again until a start succeeds. */
    private void start(boolean first) {
        for (int tries = 0; broker == null && violations.isEmpty(); tries++) {
            boolean faulty = scenario.faultyStarts() && !first && tries < MOST_FAULTY_STARTS;
            disk.setFaults(faulty ? scenario.faults() : DiskFaults.NONE);
            if (random.nextInt(5) == 0 && tries < MOST_FAULTY_STARTS) {
                disk.crashAfter(1L + random.nextInt(CHANGES_IN_A_START));
            }
            String refusal = tryToStart();
            if (refusal != null) {
                if (disk.isHarmed() && tries >= MOST_FAULTY_STARTS) {
                    // The broker has found the damage and refuses to start, so that it serves nothing wrong.
                    stopped = true;
                    return;
                }
                if (!faulty && !disk.isHarmed() && !disk.isDead()) {
                    violations.report("BrokerStarts", refusal);
                }
                crash();
            }
        }
        if (broker != null) {
            broker.setInterference(interference);
            world.setBroker(broker);
            disk.crashNever();
            disk.setFaults(DiskFaults.NONE);
        }
    }

    /** Tries to start the broker. Returns null if it serves all partitions, otherwise the reason why not. */
    private String tryToStart() {
        try {
            broker = SimBroker.start(plan, node, violations);
            if (disk.isDead()) {
                return "the broker crashed";
            }
            return broker.offlinePartitions() == 0 ? null : broker.offlinePartitions() + " partitions are offline";
        } catch (IOException | IllegalStateException | SimDisk.Crash refused) {
            return Defects.describe(refused);
        }
    }

    private void check() {
        TopicInventory inventory = TopicInventory.ask(world);
        if (!completes(inventory::isKnown)) {
            return;
        }
        clients.settleTopics(inventory);
        List<ReadBack> committed = clients.readEverything(true);
        if (!completes(() -> committed.stream().allMatch(ReadBack::isDone))) {
            return;
        }
        List<ReadBack> readings = clients.readEverything(false);
        List<CommittedOffsetQuery> offsets = clients.queryCommits();
        if (!completes(() -> readings.stream().allMatch(ReadBack::isDone)
                && offsets.stream().allMatch(CommittedOffsetQuery::isKnown))) {
            return;
        }
        readings.forEach(reading -> clients.check(reading, losses, soundness, lastEnd));
        if (!lastEnd.harmed() && !world.isHarmed()) {
            checkTransactions(committed, readings);
        }
        offsets.forEach(offset -> check(offset, readings));
        if (!lastEnd.harmed() && !world.isHarmed() && violations.isEmpty()) {
            awaitEnds(readings);
        }
        lastEnd = null;
        node.forgetFailedSyncs();
    }

    private void checkTransactions(List<ReadBack> committed, List<ReadBack> readings) {
        for (int i = 0; i < readings.size(); i++) {
            if (keepsMarkers(readings.get(i))) {
                committedView.check(committed.get(i).reading(), readings.get(i).reading());
            }
        }
        transactions.check(withMarkers(readings), clients.transactions());
    }

    /** Compaction may have removed markers with the records of their transactions. */
    private static boolean keepsMarkers(ReadBack reading) {
        return !reading.partition().plan().isCompacted();
    }

    private static List<LogReader.Reading> withMarkers(List<ReadBack> readings) {
        return readings.stream()
                .filter(Simulation::keepsMarkers)
                .map(ReadBack::reading)
                .toList();
    }

    /** Reads everything again until all transactions have ended whose producers were told so. */
    private void awaitEnds(List<ReadBack> first) {
        long limitMs = scheduler.nowMs() + MARKERS_MS;
        List<ReadBack> readings = first;
        while (!transactions.haveEnded(withMarkers(readings), clients.transactions())) {
            if (scheduler.nowMs() > limitMs) {
                transactions.checkEnded(clients.transactions());
                return;
            }
            boolean[] paused = new boolean[1];
            scheduler.after(TimeUnit.MILLISECONDS.toNanos(MARKERS_PAUSE_MS), () -> paused[0] = true);
            scheduler.runUntil(() -> paused[0]);
            List<ReadBack> again = clients.readEverything(false);
            if (!completes(() -> again.stream().allMatch(ReadBack::isDone))) {
                return;
            }
            readings = again;
        }
    }

    private void check(CommittedOffsetQuery found, List<ReadBack> readings) {
        CommitHistory history = found.history();
        if (found.isUndecided()) {
            commits.postpone(history, lastEnd); // Earlier commits still count.
            return;
        }
        long end = readings.stream()
                .filter(reading -> reading.partition() == history.partition())
                .mapToLong(ReadBack::highWatermark)
                .findFirst()
                .orElseThrow();
        if (end >= 0) { // -1: the partition could not be read, which was checked before
            commits.check(history, found.offset(), end, lastEnd);
        }
        history.reset(found.offset(), scheduler.nowMs());
    }

    /** Runs the simulation until {@code done}, and reports a violation if that takes longer than a request may. */
    private boolean completes(BooleanSupplier done) {
        long limitMs = scheduler.nowMs() + CHECK_MS;
        scheduler.runUntil(() -> scheduler.nowMs() > limitMs || done.getAsBoolean());
        if (!done.getAsBoolean()) {
            violations.report("EveryRequestGetsAResponse", broker.pendingRequests() + " requests have no response");
        }
        return violations.isEmpty();
    }
}
