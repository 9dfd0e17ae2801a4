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
import io.journalq.server.process.BrokerProcess;
import io.journalq.server.process.LocalCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One cycle: a topic under load, faults one after the other, and the reading of every replica. All brokers run at its
 * beginning and at its end. One thread.
 */
final class ClusterCycle {
    static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(2);

    private static final int PARTITIONS = 3;
    private static final int REPLICAS = 3;
    private static final int LONGEST_LIFE_MS = 1_500;
    private static final int LONGEST_OUTAGE_MS = 4_000;
    private static final int LONGEST_FREEZE_MS = 6_000;
    private static final int LONGEST_PAUSE_MS = 2_000;
    private static final int LONGEST_CUT_MS = 8_000;
    private static final int LONGEST_DELAY_MS = 300;
    private static final int LONGEST_GAP_MS = 500;
    private static final int MOST_RESETS = 5;
    private static final int START_SECONDS = 300;
    private static final int STOP_SECONDS = 120;
    private static final long RECOVERY_LIMIT_MS = 120_000;
    private static final int POLL_MS = 50;
    private static final int DUMP_MS = 2_000;

    /** {@code replication.lag.max.ms}, {@code write.interval.ms}, and the delay that an overloaded machine may add. */
    private static final long LOSS_BOUND_MS = 2_000;

    private static final long LONGEST_SPAN_MS = 4_000;

    /** {@code broker.session.timeout.ms}. */
    private static final long SESSION_TIMEOUT_MS = 3_000;

    private final ClusterPlan plan;
    private final LocalCluster cluster;
    private final ClusterMembers members;
    private final NetworkProxies network;
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
    private final Map<Integer, Long> logStarts = new TreeMap<>();

    /** When brokers were fenced by controllers that have been replaced since. */
    private final List<Instant> fencedByReplaced = new ArrayList<>();

    /** Number of committed transactions when the last fault was over. */
    private long committedBefore;

    /** The cluster cannot be used any more. The message is the finding. */
    private static final class ClusterLostException extends Exception {
        private static final long serialVersionUID = 1L;

        ClusterLostException(String finding, Throwable cause) {
            super(finding, cause);
        }
    }

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
        this.network = network;
        this.admin = admin;
        this.seed = seed;
        this.random = new Random(seed);
        this.topic = "chaos-" + seed;
        this.transactionalTopic = topic + "-transactions";
        this.transactions = new TransactionalClients(outcomes, LoadClients.partitions(transactionalTopic, PARTITIONS));
        this.report = report;
    }

    void run() throws InterruptedException {
        members.ids().forEach(id -> logStarts.put(id, cluster.process(id).logEnd()));
        ClientThreads load = new ClientThreads(
                ledger, cluster.bootstrapServers(), plan.pause().toMillis(), REQUEST_TIMEOUT);
        // Otherwise, a reading that fails would hide what was found before.
        if (!ledger.attempt("the cycle", () -> run(load))) {
            load.abandon();
        }
        ledger.attempt("the reading of the logs", this::reportFailures);
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
            Map<String, TopicDescription> described = awaitInSync();
            for (TopicDescription each : described.values()) {
                compareReplicas(each);
            }
            readEveryReplica(described.get(topic));
            if (ledger.findings().isEmpty()) {
                LoadClients.readEverything(
                        ledger, cluster.bootstrapServers(), LoadClients.partitions(topic, PARTITIONS));
                if (hasTransactions()) {
                    transactions.readCommitted(cluster.bootstrapServers(), true);
                    transactions.readCommitted(cluster.bootstrapServers(), true);
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
        awaitInSync();
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

    // Faults.

    private void inject(ClusterFault fault) throws IOException, InterruptedException, ClusterLostException {
        awaitEveryProducer("before " + fault);
        int victim = members.draw(random);
        requireAlive("before " + fault);
        report.onFault(fault);
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
                    awaitInSync();
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
        long overNanos = System.nanoTime();
        ledger.onStarted();
        committedBefore = outcomes.committedCount();
        awaitEveryProducer("after " + fault + " of broker " + victim);
        awaitInSync();
        losses.onFaultOver();
        report.onRecovered(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - overNanos));
        if (random.nextBoolean()) {
            electPreferred();
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
            cluster.process(id).dumpStacks();
            Thread.sleep(DUMP_MS);
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
            awaitServing(id);
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
        reportFailure(dead);
        fencedByReplaced.addAll(fencingsBy(dead));
        try {
            members.replace(admin, dead, successor, RECOVERY_LIMIT_MS);
        } catch (IOException failure) {
            dumpStacks();
            throw new ClusterLostException("ReplicasCatchUp: " + failure.getMessage(), failure);
        }
    }

    private void start(int id) throws IOException, InterruptedException, ClusterLostException {
        cluster.start(id);
        awaitServing(id);
    }

    private void awaitServing(int id) throws InterruptedException, ClusterLostException {
        try {
            cluster.awaitServing(id, START_SECONDS);
        } catch (IOException failure) {
            throw new ClusterLostException("StartsAgain: " + failure.getMessage(), failure);
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

    private void requireAlive(String when) throws ClusterLostException {
        for (int id : members.ids()) {
            if (!cluster.isAlive(id)) {
                throw new ClusterLostException(
                        "broker " + id + " ended on its own with exit code "
                                + cluster.process(id).exitCode() + " " + when + "; see " + cluster.log(id),
                        null);
            }
        }
    }

    private void awaitEveryProducer(String when) throws InterruptedException, ClusterLostException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RECOVERY_LIMIT_MS);
        for (List<String> waiting = waiting(); !waiting.isEmpty(); waiting = waiting()) {
            requireAlive(when);
            if (System.nanoTime() > endNanos) {
                dumpStacks();
                throw new ClusterLostException(
                        "AcknowledgesAgain: " + when + ", nothing was acknowledged for " + RECOVERY_LIMIT_MS + " ms to "
                                + waiting + "; the logs have the stacks of all threads",
                        null);
            }
            Thread.sleep(POLL_MS);
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

    /** Returns the topics of the cycle when all their replicas are in sync. */
    private Map<String, TopicDescription> awaitInSync() throws InterruptedException, ClusterLostException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RECOVERY_LIMIT_MS);
        String last = "no description";
        while (System.nanoTime() < endNanos) {
            requireAlive("while replicas caught up");
            try {
                Map<String, TopicDescription> described = admin.describeTopics(topics());
                if (described.values().stream()
                        .allMatch(each -> each.partitions().stream().allMatch(ClusterCycle::isInSync))) {
                    return described;
                }
                last = described.toString();
            } catch (RuntimeException notYet) {
                last = notYet.toString();
            }
            Thread.sleep(POLL_MS);
        }
        dumpStacks();
        throw new ClusterLostException(
                "ReplicasCatchUp: not all replicas are in sync after " + RECOVERY_LIMIT_MS + " ms: " + last
                        + "; the logs have the stacks of all threads",
                null);
    }

    private static boolean isInSync(PartitionDescription partition) {
        return partition.leader() >= 0
                && partition.inSyncReplicas().size() == REPLICAS
                && partition.replicas().size() == REPLICAS;
    }

    private void dumpStacks() throws InterruptedException {
        members.ids().forEach(id -> cluster.process(id).dumpStacks());
        Thread.sleep(DUMP_MS);
    }

    private void reportFailures() throws IOException {
        for (int id : members.ids()) {
            reportFailure(id);
        }
    }

    /** A broker can be fenced that nothing was done to, on a busy machine. It is a leader that fails, like any other. */
    private void noteFencings() throws IOException {
        List<Instant> fencings = new ArrayList<>(fencedByReplaced);
        for (int id : members.ids()) {
            fencings.addAll(fencingsBy(id));
        }
        for (Instant at : fencings) {
            long agoNanos = Duration.between(at, Instant.now()).toNanos();
            losses.onFencing(System.nanoTime() - agoNanos, SESSION_TIMEOUT_MS, LONGEST_SPAN_MS);
        }
    }

    private List<Instant> fencingsBy(int id) throws IOException {
        return BrokerReports.fencings(cluster.process(id).logSince(logStarts.getOrDefault(id, 0L)));
    }

    private void reportFailure(int id) throws IOException {
        BrokerProcess process = cluster.process(id);
        String failure = BrokerReports.unexpectedFailure(process.logSince(logStarts.getOrDefault(id, 0L)));
        if (failure != null) {
            ledger.report("unexpected failure of broker " + id + ": " + failure);
        }
    }

    // What must hold at the end.

    private Path journal(TopicDescription described, int broker, int partition) {
        return cluster.data(broker).resolve(described.id() + "-" + partition);
    }

    /** Followers that are in sync can still lack the last records for a moment. */
    private void compareReplicas(TopicDescription described) throws IOException, InterruptedException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RECOVERY_LIMIT_MS);
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
                Thread.sleep(POLL_MS);
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
