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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Starts a cluster under load, lets faults happen to leaders, and measures for how long each client gets no
 * acknowledgement from a partition that the victim led. One thread.
 */
public final class FailoverMeasurement {
    /** Row of the times of a partition that goes back to its preferred leader. */
    public static final String MOVE = "move";

    private static final String TOPIC = "failover";
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

    /** @param out receives a line after each fault */
    public FailoverMeasurement(FailoverPlan plan, PrintStream out) {
        this.plan = plan;
        this.out = out;
    }

    /**
     * Runs all rounds. Kills the brokers at the end, and also if the program is interrupted.
     *
     * @return the longest times without an acknowledgement in ms, one of each fault, by fault and client
     * @throws IOException if a client ends, or the cluster does not recover
     */
    public Map<String, Map<String, List<Long>>> run() throws IOException, InterruptedException {
        Files.createDirectories(plan.directory());
        boolean proxied = plan.faults().contains(FailoverFault.CUT);
        try (NetworkProxies network = new NetworkProxies();
                LocalCluster cluster =
                        new LocalCluster(plan.directory(), SETTINGS, proxied ? network::open : (id, port) -> port)) {
            network.watch(cluster::pid);
            Thread hook = new Thread(cluster::close, "kill-brokers");
            Runtime.getRuntime().addShutdownHook(hook);
            cluster.startAll(plan.brokers(), START_SECONDS);
            try (Admin admin = Admin.builder()
                    .bootstrapServers(cluster.bootstrapServers())
                    .requestTimeout(FailoverClient.REQUEST_TIMEOUT)
                    .callTimeout(CALL_TIMEOUT)
                    .build()) {
                createTopic(admin);
                begin(cluster);
                for (int round = 1; round <= plan.rounds(); round++) {
                    for (FailoverFault fault : plan.faults()) {
                        inject(cluster, network, admin, fault);
                    }
                }
            } finally {
                clients.forEach(FailoverClient::end);
            }
            Runtime.getRuntime().removeShutdownHook(hook);
        }
        return gaps;
    }

    private void createTopic(Admin admin) throws IOException, InterruptedException {
        try {
            admin.createTopic(NewTopic.of(TOPIC, plan.partitions())
                    .withReplicationFactor(REPLICAS)
                    .withConfig("delivery.mode", plan.mode())
                    .withConfig("min.insync.replicas", "2"));
        } catch (TopicExistsException repeated) {
            // The response to an earlier attempt came too late.
        }
        awaitPreferredLeaders(admin);
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
        awaitSettled(IntStream.range(0, plan.partitions()).boxed().toList());
    }

    private void inject(LocalCluster cluster, NetworkProxies network, Admin admin, FailoverFault fault)
            throws IOException, InterruptedException {
        int controller = controller(admin);
        int victim = fault == FailoverFault.CONTROLLER ? controller : controller % plan.brokers() + 1;
        List<Integer> led = partitions(admin).stream()
                .filter(partition -> partition.leader() == victim)
                .map(PartitionDescription::partition)
                .toList();
        beginMeasuring();
        switch (fault) {
            case KILL, CONTROLLER -> cluster.kill(victim);
            case FREEZE -> cluster.freeze(victim);
            case CUT -> setCut(network, victim, true);
            case STOP -> {
                if (!cluster.stop(victim, STOP_SECONDS)) {
                    throw new IOException("broker " + victim + " still runs " + STOP_SECONDS + " s after SIGTERM");
                }
            }
        }
        awaitSettled(led);
        endMeasuring(fault.toString(), led);
        switch (fault) {
            case KILL, CONTROLLER, STOP -> {
                cluster.start(victim);
                cluster.awaitServing(victim, START_SECONDS);
            }
            case FREEZE -> cluster.thaw(victim);
            case CUT -> setCut(network, victim, false);
        }
        awaitInSync(admin);
        List<Integer> all = IntStream.range(0, plan.partitions()).boxed().toList();
        awaitSettled(all);
        beginMeasuring();
        awaitPreferredLeaders(admin);
        awaitSettled(all);
        endMeasuring(MOVE, led);
    }

    private void beginMeasuring() {
        long nowNanos = System.nanoTime();
        clients.forEach(client -> client.gaps().begin(nowNanos));
    }

    private void endMeasuring(String fault, List<Integer> partitions) {
        long nowNanos = System.nanoTime();
        StringBuilder line = new StringBuilder(fault);
        for (FailoverClient client : clients) {
            long gapMs = client.gaps().longestMs(partitions, nowNanos);
            gaps.computeIfAbsent(fault, unused -> new TreeMap<>())
                    .computeIfAbsent(client.getName(), unused -> new ArrayList<>())
                    .add(gapMs);
            line.append(", ").append(client.getName()).append(' ').append(gapMs).append(" ms");
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

    private static List<PartitionDescription> partitions(Admin admin) {
        return admin.describeTopics(List.of(TOPIC)).get(TOPIC).partitions();
    }

    private void awaitInSync(Admin admin) throws IOException, InterruptedException {
        await("replicas in sync", () -> partitions(admin).stream()
                .allMatch(partition -> partition.inSyncReplicas().size() == REPLICAS));
    }

    private void awaitPreferredLeaders(Admin admin) throws IOException, InterruptedException {
        awaitInSync(admin);
        List<TopicPartition> all = IntStream.range(0, plan.partitions())
                .mapToObj(partition -> new TopicPartition(TOPIC, partition))
                .toList();
        await("preferred leaders", () -> {
            if (partitions(admin).stream()
                    .allMatch(partition ->
                            partition.leader() == partition.replicas().get(0))) {
                return true;
            }
            admin.electLeaders(ElectionType.PREFERRED, all);
            return false;
        });
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
