package io.journalq.sim;

import io.journalq.server.journal.wal.WriteAheadLog;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.sim.check.ClusterReplicas;
import io.journalq.sim.disk.SimDisk.CrashKind;
import io.journalq.sim.world.Scheduler;
import io.journalq.sim.world.SimMachine;
import io.journalq.sim.world.SimNetwork;
import io.journalq.sim.world.SimWorld;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Disturbs a simulated cluster until it is healed: machines crash, fsyncs fail, brokers freeze or are stopped, and the
 * network loses connections and directions.
 */
final class ClusterFaults {
    private static final int LONGEST_DOWN_MS = 1_500;
    private static final int LONGEST_FREEZE_MS = 2_000;
    private static final int LONGEST_SLOW_MS = 200;
    private static final int CHANGES_BEFORE_A_CRASH = 200;
    private static final int RESET_ODDS = 3;
    private static final int FAILED_SYNC_ODDS = 6;
    private static final int FAILED_WRITE_AHEAD_ODDS = 8;
    private static final int FULL_ODDS = 8;
    private static final int KINDS = 11;
    /** Without freezes and stops. */
    private static final int PLAIN_KINDS = 9;

    private final ClusterScenario scenario;
    private final Random random;
    private final SimWorld world;
    private final Scheduler scheduler;
    private final SimNetwork network;
    private final ClusterPromises promises;
    private final int kinds;
    private final long calmMs;
    private final int loser;
    private boolean healed;
    private int crashes;

    /**
     * Nothing is disturbed before {@link #start}.
     *
     * @param promises learns of the faults that may take something
     * @param freezesAndStops whether brokers freeze, and are stopped in order
     * @param calmMs how long there are no faults
     * @param loser the broker that loses files of replicas while it is down; 0 for none
     */
    ClusterFaults(
            ClusterScenario scenario,
            Random random,
            SimWorld world,
            ClusterPromises promises,
            boolean freezesAndStops,
            long calmMs,
            int loser) {
        this.scenario = scenario;
        this.random = random;
        this.world = world;
        this.scheduler = world.scheduler();
        this.network = world.network();
        this.promises = promises;
        this.kinds = freezesAndStops ? KINDS : PLAIN_KINDS;
        this.calmMs = calmMs;
        this.loser = loser;
    }

    /** Number of crashes. */
    int crashes() {
        return crashes;
    }

    /** Disturbs the cluster from time to time. */
    void start() {
        disturbLater();
    }

    /** Ends all faults, and starts the brokers that are down. */
    void heal() {
        healed = true;
        network.heal();
        for (SimMachine machine : world.machines()) {
            machine.node().disk().crashNever();
            machine.node().disk().setUsableBytes(Long.MAX_VALUE);
            restart(machine);
        }
        spareDisks();
    }

    private void disturbLater() {
        scheduler.later(TimeUnit.MILLISECONDS.toNanos(scenario.longestCalmMs()), () -> {
            if (!healed) {
                if (scheduler.nowMs() >= calmMs) {
                    disturb();
                }
                disturbLater();
            }
        });
    }

    private void disturb() {
        // A broker that loses files may be the only one that could heal another one.
        if (scenario.damages() && loser == 0) {
            damage();
        }
        // What an fsync has not written is lost in the next power loss, however old it is.
        if (!scenario.losesPower() && random.nextInt(FAILED_SYNC_ODDS) == 0) {
            failSync();
        }
        int brokers = world.machines().size();
        if (random.nextInt(FULL_ODDS) == 0) {
            fill(1 + random.nextInt(brokers), random.nextBoolean());
        }
        int one = 1 + random.nextInt(brokers);
        int other = 1 + random.nextInt(brokers);
        switch (random.nextInt(kinds)) {
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
            case 8 -> world.machine(one).node().disk().crashAfter(1 + random.nextInt(CHANGES_BEFORE_A_CRASH));
            case 9 -> freeze(world.machine(one));
            default -> stop(world.machine(one));
        }
        if (random.nextInt(3) == 0) {
            network.heal();
        }
    }

    /** The disk of a machine is almost full, or has room again. */
    void fill(int one, boolean full) {
        world.machine(one).node().disk().setUsableBytes(full ? 0 : Long.MAX_VALUE);
    }

    private void damage() {
        SimMachine machine = world.machine(1 + random.nextInt(world.machines().size()));
        if (machine.broker() != null && machine.broker().isRunning()) {
            promises.damage(promises.replicas(world.machines()), machine);
        }
    }

    /** The next fsync of a replica fails, or that of the write-ahead files that replicas share. */
    private void failSync() {
        SimMachine machine = world.machine(1 + random.nextInt(world.machines().size()));
        if (machine.broker() == null) {
            return;
        }
        Set<Path> directories = new HashSet<>();
        if (scenario.writesAhead() && random.nextInt(FAILED_WRITE_AHEAD_ODDS) == 0) {
            directories.add(ClusterScenario.DATA.resolve(WriteAheadLog.DIRECTORY_NAME));
        } else {
            boolean leads = random.nextBoolean();
            for (ReplicaStatus replica : machine.broker().replicas()) {
                if (replica.leads() == leads) {
                    directories.add(ClusterScenario.DATA.resolve(StoredPartition.directoryName(
                            replica.topicId(), replica.name().partition())));
                }
            }
        }
        machine.node().disk().failSyncIn(directories);
    }

    /** A last disk fails when everything else is healed. Returns whether disks fail at all. */
    boolean failLast() {
        if (!scenario.losesPower()) {
            failSync();
        }
        return !scenario.losesPower();
    }

    /** No fsync fails from now on. */
    void spareDisks() {
        world.machines().forEach(machine -> machine.node().disk().failSyncIn(Set.of()));
    }

    /** Starts the brokers again whose fsyncs have failed, as an operator does after a repair. */
    void restartFailed() {
        for (SimMachine machine : world.machines()) {
            if (machine.node().hasFailedSyncs()) {
                machine.crash(CrashKind.KILL);
                onCrash(machine, CrashKind.KILL);
            }
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

    private void freeze(SimMachine machine) {
        if (!machine.isDown()) {
            machine.node().process().freeze(TimeUnit.MILLISECONDS.toNanos(1 + random.nextInt(LONGEST_FREEZE_MS)));
        }
    }

    /** Stops a broker that hands over its partitions. */
    private void stop(SimMachine machine) {
        if (machine.broker() != null && machine.broker().isRunning() && !machine.isLeaving()) {
            machine.stop(() -> restartLater(machine));
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

    /** Notices processes that crashed in a call of their disk. */
    void collectCrashed() {
        CrashKind kind = anyKind();
        world.collectCrashed(kind).forEach(machine -> onCrash(machine, kind));
    }

    private void onCrash(SimMachine machine, CrashKind kind) {
        crashes++;
        machine.node().disk().failSyncIn(Set.of());
        scheduler.trace().add(machine.node().id(), machine.node().disk().changes());
        if (kind == CrashKind.POWER_LOSS) {
            promises.onPowerLoss(machine);
        }
        restartLater(machine);
    }

    private void restartLater(SimMachine machine) {
        scheduler.later(TimeUnit.MILLISECONDS.toNanos(LONGEST_DOWN_MS), () -> restart(machine));
    }

    private void restart(SimMachine machine) {
        if (machine.isDown()) {
            if (machine.node().id() == loser) {
                loseFiles(machine);
            }
            // A broker whose disk fails at its start does not start.
            machine.node().disk().failSyncIn(Set.of());
            machine.node().forgetFailedSyncs();
            machine.start();
        }
    }

    /**
     * A machine loses the replicas of partitions in mode {@code consistent}, as if an administrator had deleted them. Not of
     * one with a single replica that is getting more: one in-sync replica is sufficient for it until it has them. And not
     * of one that is about to have a single replica, because others may leave as soon as this one was heard from.
     */
    private void loseFiles(SimMachine machine) {
        for (TopicImage topic : promises.metadata().topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                Path files = ClusterScenario.DATA.resolve(StoredPartition.directoryName(topic.id(), number));
                PartitionImage partition = topic.partitions().get(number);
                if ("consistent".equals(topic.configs().get("delivery.mode"))
                        && partition.originalReplicas().size() > 1
                        && partition.targetReplicas().size() > 1
                        && machine.node().disk().isDirectory(files)) {
                    try {
                        machine.node().disk().lose(files);
                    } catch (IOException impossible) {
                        throw new UncheckedIOException(impossible);
                    }
                    promises.onFilesLost(
                            new ClusterReplicas.Id(topic.id(), number),
                            machine.node().id());
                }
            }
        }
    }
}
