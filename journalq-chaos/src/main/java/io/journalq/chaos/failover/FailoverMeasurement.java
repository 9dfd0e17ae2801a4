package io.journalq.chaos.failover;

import io.journalq.chaos.cluster.NetworkProxies;
import io.journalq.chaos.failover.FailoverClient.Traffic;
import io.journalq.client.Admin;
import io.journalq.client.admin.ElectionType;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.client.error.TopicExistsException;
import io.journalq.common.id.TopicPartition;
import io.journalq.server.process.LocalCluster;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Starts a cluster under load, lets faults happen to leaders, and measures for how long each client gets no
 * acknowledgement from a partition that the victim led. One thread.
 */
public final class FailoverMeasurement {
    /** Row of the times of a partition that goes back to its preferred leader. */
    public static final String MOVE = "move";

    /** Rows of the times of idle partitions begin with a fault, and end with one of these. */
    private static final String LED = "-led";

    private static final String USED = "-used";
    private static final String TOOL = "tool";

    private static final long MOVE_GOAL_MS = 200;
    private static final long LED_GOAL_MS = 3_000;
    private static final String TOPIC = "failover";
    private static final String IDLE_TOPIC = "idle";
    private static final int REPLICAS = 3;
    private static final int START_SECONDS = 300;
    private static final int STOP_SECONDS = 120;
    private static final int POLL_MS = 50;
    private static final long LIMIT_MS = 120_000;
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);

    /** A fault is over for a client when it has got acknowledgements for so long. Longer than most gaps of metadata. */
    private static final long SETTLED_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final Map<String, String> SETTINGS = Map.of("shards", "1");

    private final FailoverPlan plan;
    private final PrintStream out;
    private final Map<String, Map<String, List<Long>>> gaps = new TreeMap<>();
    private final List<FailoverClient> clients = new ArrayList<>();
    /** The preferred leader of each partition, by its number. It leads the partition whenever a fault is injected. */
    private final List<Integer> preferredLeaders = new ArrayList<>();

    /** The replicas of each partition, by its number, the preferred leader first. */
    private final List<List<Integer>> replicas = new ArrayList<>();

    private final SlowRounds slowRounds;
    /** Null if there is none. */
    private IdleTopic idle;

    /** @param out receives a line after each fault */
    public FailoverMeasurement(FailoverPlan plan, PrintStream out) {
        this.plan = plan;
        this.out = out;
        this.slowRounds = new SlowRounds(plan.slowRounds());
    }

    /** The longest time without an acknowledgement that is aimed at, for 99 of 100 faults of a row. */
    public static long goalMs(String row) {
        if (row.equals(MOVE)) {
            return MOVE_GOAL_MS;
        }
        long goalMs = FailoverFault.valueOf(row.replaceAll("-.*", "").toUpperCase(Locale.ROOT))
                .goalMs();
        return row.endsWith(LED) || row.endsWith(USED) ? Math.max(LED_GOAL_MS, goalMs) : goalMs;
    }

    /**
     * Runs all rounds. Kills the brokers at the end, and also if the program is interrupted. If a time exceeds its goal,
     * what the brokers have logged since the fault is kept, see {@link FailoverPlan#slowRounds}.
     *
     * @return the longest times without an acknowledgement in ms, one of each fault, by fault and client
     * @throws IOException if a client ends, or the cluster does not recover
     */
    public Map<String, Map<String, List<Long>>> run() throws IOException, InterruptedException {
        Files.createDirectories(plan.directory());
        boolean proxied = plan.faults().contains(FailoverFault.CUT);
        try (NetworkProxies network = new NetworkProxies();
                LocalCluster cluster =
                        new LocalCluster(plan.cluster(), SETTINGS, proxied ? network::open : (id, port) -> port)) {
            network.watch(cluster::pid);
            Thread hook = new Thread(cluster::close, "kill-brokers");
            Runtime.getRuntime().addShutdownHook(hook);
            cluster.startAll(plan.brokers(), START_SECONDS);
            try (Admin admin = Admin.builder()
                    .bootstrapServers(cluster.bootstrapServers())
                    .requestTimeout(FailoverClient.REQUEST_TIMEOUT)
                    .callTimeout(CALL_TIMEOUT)
                    .build()) {
                createTopics(admin);
                begin(cluster);
                for (int round = 1; round <= plan.rounds(); round++) {
                    for (FailoverFault fault : plan.faults()) {
                        inject(cluster, network, admin, fault, round);
                    }
                }
            } finally {
                clients.forEach(FailoverClient::end);
                if (idle != null) {
                    idle.close();
                }
            }
            Runtime.getRuntime().removeShutdownHook(hook);
        }
        return gaps;
    }

    private void createTopics(Admin admin) throws IOException, InterruptedException {
        createTopic(admin, TOPIC, plan.partitions());
        awaitInSync(admin, TOPIC, Map.of());
        partitions(admin, TOPIC).forEach(partition -> {
            replicas.add(partition.replicas());
            preferredLeaders.add(partition.replicas().get(0));
        });
        if (plan.idlePartitions() > 0) {
            createTopic(admin, IDLE_TOPIC, plan.idlePartitions());
            awaitInSync(admin, IDLE_TOPIC, Map.of());
        }
        electPreferredLeaders(admin);
    }

    private void createTopic(Admin admin, String topic, int partitions) throws IOException, InterruptedException {
        await("topic " + topic, () -> {
            try {
                admin.createTopic(NewTopic.of(topic, partitions)
                        .withReplicationFactor(REPLICAS)
                        .withConfig("delivery.mode", plan.mode())
                        .withConfig("min.insync.replicas", "2"));
            } catch (TopicExistsException repeated) {
                // The response to an earlier attempt came too late.
            }
            return true;
        });
    }

    private void begin(LocalCluster cluster) throws IOException, InterruptedException {
        Traffic traffic = new Traffic(
                cluster.bootstrapServers(),
                TOPIC,
                plan.partitions(),
                Math.max(1, plan.perSecond() / (2 + plan.programs().size())));
        clients.add(FailoverClient.journalq(traffic));
        clients.add(FailoverClient.kafka(traffic));
        plan.programs().forEach((name, command) -> clients.add(FailoverClient.process(name, command, traffic)));
        clients.forEach(Thread::start);
        if (plan.idlePartitions() > 0) {
            idle = new IdleTopic(IDLE_TOPIC, cluster.bootstrapServers());
        }
        awaitSettled(IntStream.range(0, plan.partitions()).boxed().toList());
    }

    private void inject(LocalCluster cluster, NetworkProxies network, Admin admin, FailoverFault fault, int round)
            throws IOException, InterruptedException {
        List<Integer> all = IntStream.range(0, plan.partitions()).boxed().toList();
        if (!electPreferredLeaders(admin).isEmpty()) {
            awaitSettled(all);
        }
        int controller = controller(admin);
        int victim = fault == FailoverFault.CONTROLLER ? controller : controller % plan.brokers() + 1;
        List<Integer> led = all.stream()
                .filter(partition -> preferredLeaders.get(partition) == victim)
                .toList();
        if (led.isEmpty()) {
            throw new IOException("broker " + victim + " leads no partition, so that nothing can be measured");
        }
        await("metadata with the preferred leaders", () -> partitions(admin, TOPIC).stream()
                .allMatch(partition -> partition.leader() == preferredLeaders.get(partition.partition())));
        Map<Integer, Integer> epochs = new HashMap<>();
        partitions(admin, TOPIC).forEach(partition -> epochs.put(partition.partition(), partition.leaderEpoch()));
        if (fault == FailoverFault.MOVE) {
            preferLeaders(admin, led, 1);
        }
        slowRounds.begin(
                IntStream.rangeClosed(1, plan.brokers()).mapToObj(cluster::log).toList());
        IdleTopic.Watch watch = watch(cluster, fault, victim, controller);
        Instant injected = beginMeasuring();
        CompletableFuture<IdleTopic.Times> times = watch == null ? null : watch.begin();
        switch (fault) {
            case KILL, CONTROLLER -> cluster.kill(victim);
            case FREEZE -> cluster.freeze(victim);
            case CUT -> setCut(network, victim, true);
            case STOP -> {
                if (!cluster.stop(victim, STOP_SECONDS)) {
                    throw new IOException("broker " + victim + " still runs " + STOP_SECONDS + " s after SIGTERM");
                }
            }
            case MOVE -> electPreferredLeaders(admin);
        }
        awaitSettled(led);
        endMeasuring(fault.toString(), round + "-" + fault, injected, led);
        if (watch != null) {
            note(fault, times);
            watch.close();
        }
        switch (fault) {
            case KILL, CONTROLLER, STOP -> {
                cluster.start(victim);
                cluster.awaitServing(victim, START_SECONDS);
            }
            case FREEZE -> cluster.thaw(victim);
            case CUT -> setCut(network, victim, false);
            case MOVE -> preferLeaders(admin, led, 0);
        }
        epochs.keySet().retainAll(led);
        awaitInSync(admin, TOPIC, epochs);
        if (idle != null) {
            awaitInSync(admin, IDLE_TOPIC, Map.of());
        }
        awaitSettled(all);
        Instant elected = beginMeasuring();
        List<Integer> moved = List.copyOf(electPreferredLeaders(admin));
        awaitSettled(all);
        if (moved.isEmpty()) {
            // The controller looks for partitions without their preferred leader, too, but only once a minute.
            out.println("no " + MOVE + ": the preferred leaders led already");
        } else {
            endMeasuring(MOVE, round + "-" + fault + "-" + MOVE, elected, moved);
        }
    }

    /** Returns null if the idle partitions are not measured. */
    private IdleTopic.Watch watch(LocalCluster cluster, FailoverFault fault, int victim, int controller)
            throws IOException {
        if (idle == null || (fault != FailoverFault.KILL && fault != FailoverFault.CONTROLLER)) {
            return null;
        }
        int survivor = IntStream.rangeClosed(1, plan.brokers())
                .filter(id -> id != victim && id != controller)
                .findFirst()
                .orElseThrow();
        return idle.watch(cluster.address(survivor), victim);
    }

    private void note(FailoverFault fault, CompletableFuture<IdleTopic.Times> measured)
            throws IOException, InterruptedException {
        IdleTopic.Times times;
        try {
            times = measured.get();
        } catch (ExecutionException failed) {
            throw new IOException("the idle partitions cannot be used", failed.getCause());
        }
        add(fault + LED, TOOL, times.ledMs());
        add(fault + USED, TOOL, times.acknowledgedMs());
        out.println("all led again: " + times.partitions() + " idle partitions after " + times.ledMs()
                + " ms, used after " + times.acknowledgedMs() + " ms");
    }

    private void add(String row, String client, long ms) {
        gaps.computeIfAbsent(row, unused -> new TreeMap<>())
                .computeIfAbsent(client, unused -> new ArrayList<>())
                .add(ms);
    }

    /** Returns the time, as the logs of the brokers have it. */
    private Instant beginMeasuring() {
        long nowNanos = System.nanoTime();
        clients.forEach(client -> client.gaps().begin(nowNanos));
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }

    /** @param name of the directory for the logs */
    private void endMeasuring(String row, String name, Instant began, List<Integer> partitions) throws IOException {
        long nowNanos = System.nanoTime();
        boolean slow = false;
        StringBuilder line = new StringBuilder(began + " " + row);
        for (FailoverClient client : clients) {
            long gapMs = client.gaps().longestMs(partitions, nowNanos);
            slow |= gapMs > goalMs(row);
            add(row, client.getName(), gapMs);
            line.append(", ").append(client.getName()).append(' ').append(gapMs).append(" ms");
        }
        line.append(", partitions ").append(partitions);
        slowRounds.note(line.toString());
        if (slow) {
            line.append(", logs in ").append(slowRounds.keep(name));
        }
        out.println(line);
    }

    private void setCut(NetworkProxies network, int victim, boolean cut) {
        for (int other = NetworkProxies.CLIENTS; other <= plan.brokers(); other++) {
            if (other != victim) {
                network.set(victim, other, cut, 0);
                network.set(other, victim, cut, 0);
            }
        }
    }

    private void awaitSettled(List<Integer> partitions) throws IOException, InterruptedException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MS);
        for (FailoverClient client : clients) {
            while (!client.gaps().areSettled(partitions, System.nanoTime(), SETTLED_NANOS)) {
                if (client.failure() != null) {
                    throw new IOException("the client " + client.getName() + " has ended: " + client.failure());
                }
                if (System.nanoTime() > endNanos) {
                    throw new IOException("the client " + client.getName() + " got no steady acknowledgements for "
                            + LIMIT_MS + " ms");
                }
                Thread.sleep(POLL_MS);
            }
        }
    }

    /**
     * Lets partitions prefer another leader, which does not lead yet.
     *
     * @param preferred index of this leader in {@link #replicas}
     */
    private void preferLeaders(Admin admin, List<Integer> partitions, int preferred)
            throws IOException, InterruptedException {
        Map<TopicPartition, List<Integer>> targets = new HashMap<>();
        for (int partition : partitions) {
            List<Integer> target = new ArrayList<>(replicas.get(partition));
            target.add(0, target.remove(preferred));
            targets.put(new TopicPartition(TOPIC, partition), target);
        }
        await("other preferred leaders", () -> {
            admin.alterPartitionReassignments(targets);
            return true;
        });
        await("metadata with other preferred leaders", () -> partitions(admin, TOPIC).stream()
                .allMatch(partition -> partition
                        .replicas()
                        .equals(targets.getOrDefault(
                                new TopicPartition(TOPIC, partition.partition()), partition.replicas()))));
    }

    private static int controller(Admin admin) throws IOException, InterruptedException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MS);
        while (System.nanoTime() < endNanos) {
            try {
                int id = admin.describeCluster().controllerId();
                if (id > 0) {
                    return id;
                }
            } catch (RuntimeException notYet) {
                // A broker that has just been started may not respond.
            }
            Thread.sleep(POLL_MS);
        }
        throw new IOException("there is no controller after " + LIMIT_MS + " ms");
    }

    private static List<PartitionDescription> partitions(Admin admin, String topic) {
        return admin.describeTopics(List.of(topic)).get(topic).partitions();
    }

    /**
     * Waits until all replicas are in sync.
     *
     * @param older leader epochs of partitions that have a newer one. Any broker may describe them, even one that was
     *     frozen or cut off and does not know yet what has happened
     */
    private static void awaitInSync(Admin admin, String topic, Map<Integer, Integer> older)
            throws IOException, InterruptedException {
        await("replicas in sync", () -> partitions(admin, topic).stream()
                .allMatch(partition -> partition.inSyncReplicas().size() == REPLICAS
                        && partition.leaderEpoch() > older.getOrDefault(partition.partition(), -1)));
    }

    /**
     * Makes the preferred leaders lead. Only the controller knows whether they do, because the metadata of other brokers
     * may be older.
     *
     * @return the partitions whose leader was another one, without idle ones
     */
    private Set<Integer> electPreferredLeaders(Admin admin) throws IOException, InterruptedException {
        if (plan.idlePartitions() > 0) {
            electPreferredLeaders(admin, IDLE_TOPIC, plan.idlePartitions());
        }
        return electPreferredLeaders(admin, TOPIC, plan.partitions());
    }

    private static Set<Integer> electPreferredLeaders(Admin admin, String topic, int partitions)
            throws IOException, InterruptedException {
        List<TopicPartition> all = IntStream.range(0, partitions)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .toList();
        Set<Integer> moved = new HashSet<>();
        await("preferred leaders", () -> {
            Set<TopicPartition> elected = admin.electLeaders(ElectionType.PREFERRED, all);
            elected.forEach(partition -> moved.add(partition.partition()));
            return elected.isEmpty();
        });
        return moved;
    }

    /** A state of the cluster. */
    private interface Condition {
        boolean holds();
    }

    private static void await(String what, Condition condition) throws IOException, InterruptedException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MS);
        String last = "";
        while (System.nanoTime() < endNanos) {
            try {
                if (condition.holds()) {
                    return;
                }
            } catch (RuntimeException notYet) {
                last = ": " + notYet;
            }
            Thread.sleep(POLL_MS);
        }
        throw new IOException("no " + what + " after " + LIMIT_MS + " ms" + last);
    }
}
