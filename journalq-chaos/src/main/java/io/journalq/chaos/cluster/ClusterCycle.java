package io.journalq.chaos.cluster;

import io.journalq.chaos.load.BrokerReports;
import io.journalq.chaos.load.ClientThreads;
import io.journalq.chaos.load.Ledger;
import io.journalq.chaos.load.LoadClients;
import io.journalq.chaos.load.Losses;
import io.journalq.chaos.load.Payload;
import io.journalq.chaos.load.SeenRecords;
import io.journalq.chaos.load.TransactionLedger;
import io.journalq.chaos.load.TransactionalClients;
import io.journalq.client.Acks;
import io.journalq.client.Admin;
import io.journalq.client.admin.ElectionType;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.client.admin.TopicDescription;
import io.journalq.client.error.TopicExistsException;
import io.journalq.client.error.UnknownTopicException;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.process.LocalCluster;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * One cycle: a topic under load, faults one after the other, and the reading of every replica. {@link FaultInjector}
 * causes the faults, and {@link ClusterHealth} waits for the recovery. All brokers run at the beginning and at the end
 * of a cycle. One thread.
 */
final class ClusterCycle {
    static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(2);

    private static final int PARTITIONS = 3;
    private static final int REPLICAS = 3;
    private static final int LONGEST_LIFE_MS = 1_500;

    /** {@code replication.lag.max.ms}, {@code write.interval.ms}, and the delay that an overloaded machine may add. */
    private static final long LOSS_BOUND_MS = 2_000;

    /** {@code broker.session.timeout.ms}. */
    private static final long SESSION_TIMEOUT_MS = 3_000;
    /** How long a leader may not know that it was fenced, on a machine that gives it no processor time. */
    private static final Duration LONGEST_UNAWARE = Duration.ofSeconds(20);

    private final ClusterPlan plan;
    private final LocalCluster cluster;
    private final ClusterMembers members;
    private final Admin admin;
    private final long seed;
    private final Random random;
    private final String topic;
    private final String transactionalTopic;
    private final ClusterReport report;
    private final Ledger ledger = new Ledger();
    private final SeenRecords seen = new SeenRecords(ledger);
    private final TransactionLedger outcomes = new TransactionLedger(ledger);
    private final TransactionalClients transactions;
    private final Losses losses = new Losses(LOSS_BOUND_MS);
    private final BrokerLogs logs;
    private final ClusterHealth health;
    private final FaultInjector faults;

    /** Number of committed transactions when the last fault was over. */
    private long committedBefore;

    ClusterCycle(
            ClusterPlan plan,
            LocalCluster cluster,
            ClusterMembers members,
            NetworkProxies network,
            Admin admin,
            long seed,
            ClusterReport report) {
        this.plan = plan;
        this.cluster = cluster;
        this.members = members;
        this.admin = admin;
        this.seed = seed;
        this.random = new Random(seed);
        this.topic = "chaos-" + seed;
        this.transactionalTopic = topic + "-transactions";
        this.transactions = new TransactionalClients(outcomes, LoadClients.partitions(transactionalTopic, PARTITIONS));
        this.report = report;
        this.logs = new BrokerLogs(cluster, members, ledger);
        this.health = new ClusterHealth(cluster, members, admin, topics(), REPLICAS);
        this.faults = new FaultInjector(cluster, members, network, random, losses, ledger, logs, health);
    }

    void run() throws InterruptedException {
        ClientThreads load =
                new ClientThreads(ledger, members.addresses(), plan.pause().toMillis(), REQUEST_TIMEOUT);
        // Otherwise, a reading that fails would hide what was found before.
        if (!ledger.attempt("the cycle", () -> run(load))) {
            load.abandon();
        }
        ledger.attempt("the reading of the logs", logs::reportFailures);
        report.onCycle(
                ledger.acknowledgedCount(),
                ledger.foundCount(),
                load.consumedCount(),
                losses.lostCount(),
                losses.longestSpanMs());
        report.onTransactions(outcomes.committedCount(), outcomes.abortedCount());
        report.onFindings(ledger.findings(), seed);
    }

    private void run(ClientThreads load) throws IOException, InterruptedException {
        try {
            createTopics();
            begin(load);
            for (int i = 0; i < plan.faultsPerCycle() && ledger.findings().isEmpty(); i++) {
                Thread.sleep(random.nextInt(LONGEST_LIFE_MS));
                inject(ClusterFault.draw(plan.faults(), random));
            }
            load.close();
            noteFencings();
            Map<String, TopicDescription> described = health.awaitInSync();
            for (TopicDescription each : described.values()) {
                compareReplicas(each);
            }
            readEveryReplica(described.get(topic));
            if (ledger.findings().isEmpty()) {
                LoadClients.readEverything(ledger, members.addresses(), LoadClients.partitions(topic, PARTITIONS));
                if (hasTransactions()) {
                    transactions.readCommitted(members.addresses(), true);
                    transactions.readCommitted(members.addresses(), true);
                }
                deleteTopics();
            }
        } catch (ClusterLostException lost) {
            ledger.report(lost.getMessage());
            load.abandon();
        }
    }

    /** A transaction can lose a part in mode performance. */
    private boolean hasTransactions() {
        return !plan.mode().equals("performance");
    }

    private List<String> topics() {
        return hasTransactions() ? List.of(topic, transactionalTopic) : List.of(topic);
    }

    private void deleteTopics() {
        try {
            admin.deleteTopics(topics());
        } catch (UnknownTopicException repeated) {
            // The response to an earlier attempt came too late.
        }
    }

    private void createTopics() throws InterruptedException, ClusterLostException {
        for (String name : topics()) {
            NewTopic wanted = NewTopic.of(name, PARTITIONS)
                    .withReplicationFactor(REPLICAS)
                    .withConfig("delivery.mode", plan.mode())
                    .withConfig("min.insync.replicas", "2");
            try {
                admin.createTopic(wanted);
            } catch (TopicExistsException repeated) {
                // No other cycle has this name: the response to an earlier attempt came too late.
            } catch (RuntimeException failure) {
                throw new ClusterLostException("a topic of the cycle cannot be created: " + failure, failure);
            }
        }
        health.awaitInSync();
    }

    /** Starts producers of both clients with both acknowledgements, and consumers of both clients. */
    private void begin(ClientThreads load) {
        boolean keepsEverything = plan.mode().equals("consistent");
        boolean losesSome = plan.mode().equals("performance");
        String kept = keepsEverything ? "ConsistentLosesNothing" : "AcknowledgedByAllIsKept";
        Ledger.Promise bounded = new Ledger.Promise("LoneAcknowledgementsAreBounded", losses, false);
        Ledger.Promise byAll = losesSome ? bounded : new Ledger.Promise(kept, null, true);
        Ledger.Promise byLeader = keepsEverything ? new Ledger.Promise(kept, null, false) : bounded;
        for (int partition = 0; partition < PARTITIONS; partition++) {
            String name = topic + "-" + partition;
            ledger.promise(name, 0, byAll);
            ledger.promise(name, 1, byAll);
            ledger.promise(name, 2, byLeader);
            ledger.promise(name, 3, byLeader);
            ledger.promise(name, 4, byAll);
        }
        CompressionCodec[] codecs = CompressionCodec.values();
        int codec = random.nextInt(codecs.length);
        LoadClients.produceWithKafka(load, 0, topic, PARTITIONS, codecs[codec], Acks.ALL);
        LoadClients.produceWithJournalQ(load, 1, topic, PARTITIONS, codecs[codec], Acks.ALL);
        LoadClients.produceWithKafka(load, 2, topic, PARTITIONS, CompressionCodec.NONE, Acks.LEADER);
        LoadClients.produceWithJournalQ(load, 3, topic, PARTITIONS, CompressionCodec.NONE, Acks.LEADER);
        if (plan.python() != null) {
            LoadClients.produceWithLibrdkafka(load, 4, topic, PARTITIONS, plan.python(), !losesSome);
        }
        if (hasTransactions()) {
            transactions.writeWithJournalQ(load, 5, CompressionCodec.LZ4);
            transactions.writeWithKafka(load, 6, CompressionCodec.ZSTD);
        }
        seen.watchWithKafka(load, topic, PARTITIONS);
        seen.watchWithJournalQ(load, topic, PARTITIONS);
    }

    private void inject(ClusterFault fault) throws IOException, InterruptedException, ClusterLostException {
        awaitEveryProducer("before " + fault);
        int victim = members.draw(random);
        health.requireAlive("before " + fault);
        report.onFault(fault);
        faults.inject(fault, victim);
        long overNanos = System.nanoTime();
        ledger.onStarted();
        committedBefore = outcomes.committedCount();
        awaitEveryProducer("after " + fault + " of broker " + victim);
        health.awaitInSync();
        losses.onFaultOver();
        report.onRecovered(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - overNanos));
        if (random.nextBoolean()) {
            electPreferred();
        }
    }

    /** Otherwise, one broker would lead everything after some faults. */
    private void electPreferred() {
        try {
            admin.electLeaders(ElectionType.PREFERRED, LoadClients.partitions(topic, PARTITIONS));
        } catch (RuntimeException notNow) {
            // The next faults find other leaders.
        }
    }

    // What must hold after each fault.

    private void awaitEveryProducer(String when) throws InterruptedException, ClusterLostException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ClusterHealth.RECOVERY_LIMIT_MS);
        for (List<String> waiting = waiting(); !waiting.isEmpty(); waiting = waiting()) {
            health.requireAlive(when);
            if (System.nanoTime() > endNanos) {
                health.dumpStacks();
                throw new ClusterLostException(
                        "AcknowledgesAgain: " + when + ", nothing was acknowledged for "
                                + ClusterHealth.RECOVERY_LIMIT_MS + " ms to " + waiting
                                + "; the logs have the stacks of all threads",
                        null);
            }
            Thread.sleep(ClusterHealth.POLL_MS);
        }
    }

    /** The producers that have got no acknowledgement since the last fault was over. */
    private List<String> waiting() {
        List<String> waiting = new ArrayList<>(ledger.waiting());
        if (hasTransactions() && outcomes.committedCount() == committedBefore) {
            waiting.add("transactions");
        }
        return waiting;
    }

    /** A broker can be fenced that nothing was done to, on a busy machine. It is a leader that fails, like any other. */
    private void noteFencings() throws IOException {
        for (BrokerReports.Fencing fencing : logs.fencings()) {
            long agoNanos = Duration.between(fencing.at(), Instant.now()).toNanos();
            losses.onFencing(
                    System.nanoTime() - agoNanos,
                    SESSION_TIMEOUT_MS,
                    logs.unaware(fencing, LONGEST_UNAWARE).toMillis(),
                    FaultInjector.LONGEST_SPAN_MS);
        }
    }

    // What must hold at the end.

    private Path journal(TopicDescription described, int broker, int partition) {
        return cluster.data(broker).resolve(described.id() + "-" + partition);
    }

    /** Followers that are in sync can still lack the last records for a moment. */
    private void compareReplicas(TopicDescription described) throws IOException, InterruptedException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ClusterHealth.RECOVERY_LIMIT_MS);
        for (PartitionDescription partition : described.partitions()) {
            while (true) {
                Map<Integer, byte[]> byBroker = new TreeMap<>();
                for (int broker : partition.replicas()) {
                    byBroker.put(broker, ReplicaJournals.bytes(journal(described, broker, partition.partition())));
                }
                byte[] first = byBroker.values().iterator().next();
                if (byBroker.values().stream().allMatch(other -> Arrays.equals(first, other))) {
                    break;
                }
                if (System.nanoTime() > endNanos) {
                    ledger.report("ReplicasHoldTheSame: the journals of " + described.name() + "-"
                            + partition.partition()
                            + " differ: "
                            + byBroker.entrySet().stream()
                                    .map(each -> "broker " + each.getKey() + " has " + each.getValue().length
                                            + " bytes, the first other byte than that of broker "
                                            + byBroker.keySet().iterator().next() + " at "
                                            + Arrays.mismatch(first, each.getValue()))
                                    .collect(Collectors.joining("; ")));
                    break;
                }
                Thread.sleep(ClusterHealth.POLL_MS);
            }
        }
    }

    private void readEveryReplica(TopicDescription described) throws IOException {
        for (int broker : members.ids()) {
            List<PartitionDescription> held = described.partitions().stream()
                    .filter(partition -> partition.replicas().contains(broker))
                    .toList();
            String from = "broker " + broker + ": ";
            ledger.beginReading(
                    from,
                    held.stream()
                            .map(partition -> topic + "-" + partition.partition())
                            .collect(Collectors.toSet()));
            for (PartitionDescription partition : held) {
                String name = topic + "-" + partition.partition();
                Map<Long, Payload> records = new HashMap<>();
                ReplicaJournals.read(journal(described, broker, partition.partition()), new ReplicaJournals.Visitor() {
                    @Override
                    public void onRecord(long offset, byte[] value) {
                        ledger.onFound(name, offset, value);
                        records.put(offset, Payload.decode(value));
                    }

                    @Override
                    public void onBadBytes(Path file, int position, int endPosition) {
                        ledger.report("ReplicasHoldTheSame: " + from + file + " holds no batch from byte " + position
                                + " to " + endPosition);
                    }
                });
                seen.compare(from, name, records);
            }
            ledger.endReading();
        }
    }
}
