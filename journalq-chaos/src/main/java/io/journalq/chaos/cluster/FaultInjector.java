package io.journalq.chaos.cluster;

import io.journalq.chaos.load.Ledger;
import io.journalq.chaos.load.Losses;
import io.journalq.server.process.LocalCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/**
 * Injects faults into the brokers and their network, and ends them. Tells {@link Losses} beforehand over what
 * time messages may be lost. One thread.
 */
final class FaultInjector {
    /**
     * Longest time between the first and the last of successive messages that one producer may lose in one partition.
     */
    static final long LONGEST_SPAN_MS = 4_000;

    private static final int LONGEST_OUTAGE_MS = 4_000;
    private static final int LONGEST_FREEZE_MS = 6_000;
    private static final int LONGEST_PAUSE_MS = 2_000;
    private static final int LONGEST_CUT_MS = 8_000;
    private static final int LONGEST_DELAY_MS = 300;
    private static final int LONGEST_GAP_MS = 500;
    private static final int MOST_RESETS = 5;
    private static final int STOP_SECONDS = 120;

    private final LocalCluster cluster;
    private final ClusterMembers members;
    private final NetworkProxies network;
    private final Random random;
    private final Losses losses;
    private final Ledger ledger;
    private final BrokerLogs logs;
    private final ClusterHealth health;

    /**
     * Creates an injector.
     *
     * @param random determines the details of each fault
     * @param ledger receives findings
     */
    FaultInjector(
            LocalCluster cluster,
            ClusterMembers members,
            NetworkProxies network,
            Random random,
            Losses losses,
            Ledger ledger,
            BrokerLogs logs,
            ClusterHealth health) {
        this.cluster = cluster;
        this.members = members;
        this.network = network;
        this.random = random;
        this.losses = losses;
        this.ledger = ledger;
        this.logs = logs;
        this.health = health;
    }

    /**
     * Injects a fault. Returns when it is over and all brokers run.
     *
     * @param victim the broker that the fault hits. MAJORITY hits the others, and ROLL and BLACKOUT hit all
     */
    void inject(ClusterFault fault, int victim) throws IOException, InterruptedException, ClusterLostException {
        switch (fault) {
            case KILL -> {
                losses.onFault(LONGEST_SPAN_MS);
                cluster.kill(victim);
                Thread.sleep(random.nextInt(LONGEST_OUTAGE_MS));
                start(victim);
            }
            case FREEZE -> {
                losses.onFault(LONGEST_SPAN_MS);
                cluster.freeze(victim);
                Thread.sleep(random.nextInt(LONGEST_FREEZE_MS));
                cluster.thaw(victim);
            }
            case STOP -> {
                losses.onFault(LONGEST_SPAN_MS);
                stop(victim);
                Thread.sleep(random.nextInt(LONGEST_PAUSE_MS));
                start(victim);
            }
            case ROLL -> {
                losses.onFault(Long.MAX_VALUE);
                for (int id : members.ids()) {
                    stop(id);
                    start(id);
                    health.awaitInSync();
                }
            }
            case WIPE -> {
                losses.onFault(LONGEST_SPAN_MS);
                cluster.kill(victim);
                delete(cluster.data(victim));
                Thread.sleep(random.nextInt(LONGEST_OUTAGE_MS));
                start(victim);
            }
            case REPLACE -> {
                losses.onFault(LONGEST_SPAN_MS);
                cluster.kill(victim);
                Thread.sleep(random.nextInt(LONGEST_OUTAGE_MS));
                replace(victim);
            }
            case MAJORITY -> {
                losses.onFault(Long.MAX_VALUE);
                killAndStart(members.ids().stream().filter(id -> id != victim).toList());
            }
            case BLACKOUT -> {
                losses.onFault(Long.MAX_VALUE);
                killAndStart(members.ids());
            }
            case CUT -> cut(victim);
            case DELAY -> {
                losses.onFault(LONGEST_SPAN_MS);
                int delayMs = 1 + random.nextInt(LONGEST_DELAY_MS);
                others(victim, true).forEach(id -> {
                    network.set(victim, id, false, delayMs);
                    network.set(id, victim, false, delayMs);
                });
                Thread.sleep(random.nextInt(LONGEST_OUTAGE_MS));
                network.heal();
            }
            case RESET -> {
                losses.onFault(LONGEST_SPAN_MS);
                for (int count = 1 + random.nextInt(MOST_RESETS); count > 0; count--) {
                    network.reset(victim);
                    Thread.sleep(random.nextInt(LONGEST_PAUSE_MS));
                }
            }
        }
    }

    private List<Integer> others(int broker, boolean withClients) {
        List<Integer> others = new ArrayList<>(members.ids());
        others.remove((Integer) broker);
        if (withClients) {
            others.add(NetworkProxies.CLIENTS);
        }
        return others;
    }

    /** Cuts a broker off from the others, in both directions or in one, with or without the clients. */
    private void cut(int victim) throws InterruptedException {
        boolean in = random.nextInt(3) > 0;
        boolean out = !in || random.nextBoolean();
        boolean clients = random.nextInt(4) == 0;
        losses.onFault(in && out ? LONGEST_SPAN_MS : Long.MAX_VALUE);
        others(victim, clients).forEach(id -> {
            network.set(id, victim, in, 0);
            network.set(victim, id, out, 0);
        });
        Thread.sleep(random.nextInt(LONGEST_CUT_MS));
        network.heal();
    }

    private void stop(int id) throws InterruptedException {
        if (!cluster.stop(id, STOP_SECONDS)) {
            health.dumpStacks(id);
            ledger.report("StopsInTime: broker " + id + " still runs " + STOP_SECONDS
                    + " s after SIGTERM; its log has the stacks of its threads");
            cluster.kill(id);
        }
    }

    /** Kills brokers within a second, and starts all of them together: none may be able to start alone. */
    private void killAndStart(List<Integer> ids) throws IOException, InterruptedException, ClusterLostException {
        List<Integer> shuffled = new ArrayList<>(ids);
        Collections.shuffle(shuffled, random);
        for (int id : shuffled) {
            cluster.kill(id);
            Thread.sleep(random.nextInt(LONGEST_GAP_MS));
        }
        Thread.sleep(random.nextInt(LONGEST_OUTAGE_MS));
        Collections.shuffle(shuffled, random);
        for (int id : shuffled) {
            cluster.start(id);
        }
        for (int id : shuffled) {
            health.awaitServing(id);
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    private void replace(int dead) throws IOException, InterruptedException, ClusterLostException {
        int successor = members.nextId();
        start(successor);
        logs.onReplaced(dead);
        health.replace(dead, successor);
    }

    private void start(int id) throws IOException, InterruptedException, ClusterLostException {
        cluster.start(id);
        health.awaitServing(id);
    }
}
