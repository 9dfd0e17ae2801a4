package io.journalq.sim.cluster;

import io.journalq.server.metadata.InternalTopics;
import io.journalq.sim.cluster.ClusterConsumer.View;
import io.journalq.sim.workload.LogReader;
import io.journalq.sim.workload.SentTransaction;
import io.journalq.sim.world.SimWorld;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** All clients of a simulated cluster. */
public final class ClusterClients {
    /** Instances of a job, which fence each other. */
    private static final int COPIERS = 2;

    private static final int PARTITIONS_OF_A_JOB = 3;
    /** The first output of a job is the input of the next one. */
    private static final int PARTITIONS_OF_THE_NEXT = PARTITIONS_OF_A_JOB - 1;

    private static final int RETRY_PAUSE_MS = 60;

    private final SimWorld world;
    private final Random random;
    private final ClusterListener listener;
    private final Plan plan;
    private final ClusterAdministrator administrator;
    private final List<ClusterPartition> partitions = new ArrayList<>();
    /** Those that jobs may use. */
    private final List<ClusterPartition> copied = new ArrayList<>();

    private final List<CopyJob> jobs = new ArrayList<>();
    private final List<ClusterCopier> copiers = new ArrayList<>();
    private final List<ClusterProducer> producers = new ArrayList<>();
    private final List<ClusterConsumer> consumers = new ArrayList<>();
    private final List<ClusterConsumer> readers = new ArrayList<>();
    private final Map<ClusterPartition, ClusterConsumer> committedReaders = new LinkedHashMap<>();
    private final List<Replica> replicas = new ArrayList<>();
    private final List<ClusterGroup> groups = new ArrayList<>();
    private final List<ClusterGroup> positions = new ArrayList<>();
    private boolean stopped;

    /**
     * What a seed determines about the clients.
     *
     * @param topics number of topics that are created in the course of the simulation
     * @param replicates whether most of them have several replicas
     * @param leastReplicas smallest number of replicas to which partitions are moved
     * @param groups number of groups that commit offsets of topics with several replicas
     * @param jobs number of jobs that copy records in transactions
     * @param copies which partitions they use
     */
    public record Plan(
            int topics,
            boolean replicates,
            int leastReplicas,
            int groups,
            int jobs,
            Predicate<ClusterPartition> copies) {}

    /** The readings of one replica. */
    public static final class Replica {
        private final ClusterConsumer committed;
        private final ClusterConsumer everything;

        private Replica(ClusterConsumer committed, ClusterConsumer everything) {
            this.committed = committed;
            this.everything = everything;
        }

        public ClusterPartition partition() {
            return committed.partition();
        }

        /** What consumers of committed records see. */
        public LogReader.Reading committed() {
            return committed.reading();
        }

        public LogReader.Reading everything() {
            return everything.reading();
        }
    }

    /** Creates clients that have not started. */
    public ClusterClients(SimWorld world, Random random, ClusterListener listener, Plan plan) {
        this.world = world;
        this.random = random;
        this.listener = listener;
        this.plan = plan;
        this.administrator = new ClusterAdministrator(newClient(), listener, plan, this::onPartition);
    }

    private ClusterClient newClient() {
        return new ClusterClient(world, random);
    }

    /** Starts the administrator. Others start when there are topics. */
    public void start() {
        administrator.start();
    }

    private void onPartition(ClusterPartition partition) {
        partitions.add(partition);
        ClusterProducer producer =
                new ClusterProducer(newClient(), listener, partition, "p" + partition.topic() + partition.partition());
        boolean committed = plan.jobs() > 0 && random.nextBoolean();
        ClusterConsumer consumer =
                new ClusterConsumer(newClient(), listener, partition, committed ? View.COMMITTED : View.EVERYTHING);
        producers.add(producer);
        consumers.add(consumer);
        if (stopped) {
            return;
        }
        producer.start();
        consumer.start();
        if (partition.replicated() && groups.size() < plan.groups()) {
            ClusterGroup group = new ClusterGroup(newClient(), listener, partition, "group-" + groups.size());
            groups.add(group);
            group.start();
        }
        if (jobs.size() < plan.jobs() && plan.copies().test(partition)) {
            copied.add(partition);
            int first = jobs.size() * PARTITIONS_OF_THE_NEXT;
            if (copied.size() == first + PARTITIONS_OF_A_JOB) {
                begin(new CopyJob(
                        "copy-" + jobs.size(),
                        copied.get(first == 0 ? 0 : first - 1),
                        List.copyOf(copied.subList(copied.size() - PARTITIONS_OF_THE_NEXT, copied.size())),
                        random.nextBoolean()));
            }
        }
    }

    private void begin(CopyJob job) {
        if (jobs.isEmpty()) {
            administrator.moveAlso(InternalTopics.GROUPS, InternalTopics.TRANSACTIONS);
        }
        jobs.add(job);
        for (int i = 0; i < COPIERS; i++) {
            ClusterCopier copier = new ClusterCopier(newClient(), listener, job, job.id() + (char) ('a' + i));
            copiers.add(copier);
            copier.start();
        }
    }

    /** Moves no more partitions to other brokers. */
    public void stopMoving() {
        administrator.stopMoving();
    }

    /** Stops all clients. Requests on their way still arrive, and open transactions stay open. */
    public void stop() {
        stopped = true;
        administrator.stop();
        producers.forEach(ClusterProducer::stop);
        consumers.forEach(ClusterConsumer::stop);
        groups.forEach(ClusterGroup::stop);
        copiers.forEach(ClusterCopier::stop);
    }

    // ---- reading back

    /** Reads the committed records of all partitions from the beginning. */
    public void readCommitted() {
        for (ClusterPartition partition : partitions) {
            ClusterConsumer reader = new ClusterConsumer(newClient(), listener, partition, View.COMMITTED);
            committedReaders.put(partition, reader);
            reader.start();
        }
    }

    /** Whether {@link #readCommitted} has ended. */
    public boolean isCommittedRead() {
        return committedReaders.values().stream().allMatch(ClusterConsumer::isAtEnd);
    }

    /** The readings of {@link #readCommitted}, up to now. */
    public List<LogReader.Reading> committed() {
        return committedReaders.values().stream().map(ClusterConsumer::reading).toList();
    }

    /** The reading of the committed records of one partition, up to now. */
    public LogReader.Reading committed(ClusterPartition partition) {
        return committedReaders.get(partition).reading();
    }

    /**
     * Reads all partitions from the beginning, and the offsets of all groups.
     *
     * @param ofJobs whether to read the offsets of jobs as well
     */
    public void readEverything(boolean ofJobs) {
        for (ClusterPartition partition : partitions) {
            ClusterConsumer reader = new ClusterConsumer(newClient(), listener, partition, View.EVERYTHING);
            readers.add(reader);
            reader.start();
        }
        jobs.stream()
                .filter(job -> ofJobs)
                .forEach(job -> positions.add(new ClusterGroup(newClient(), listener, job.input(), job.id())));
        groups.forEach(ClusterGroup::read);
        positions.forEach(ClusterGroup::read);
    }

    /** Whether all partitions and the offsets of all groups have been read. */
    public boolean isEverythingRead() {
        return readers.stream().allMatch(ClusterConsumer::isAtEnd)
                && Stream.concat(groups.stream(), positions.stream()).allMatch(ClusterGroup::isRead);
    }

    /** Reads all replicas of the partitions that jobs use, from each broker that has one. */
    public void readReplicas() {
        copied.forEach(partition -> readReplicas(newClient(), partition));
    }

    private void readReplicas(ClusterClient client, ClusterPartition partition) {
        client.refresh(() -> {
            if (client.replicasOf(partition).isEmpty()) {
                // It had no leader at that moment.
                client.later(RETRY_PAUSE_MS, () -> readReplicas(client, partition));
            }
            for (int broker : client.replicasOf(partition)) {
                Replica replica = new Replica(
                        new ClusterConsumer(newClient(), listener, partition, new View(true, broker)),
                        new ClusterConsumer(newClient(), listener, partition, new View(false, broker)));
                replicas.add(replica);
                replica.committed.start();
                replica.everything.start();
            }
        });
    }

    /** Whether {@link #readReplicas} has ended. */
    public boolean areReplicasRead() {
        return copied.stream().allMatch(partition -> replicas.stream()
                        .anyMatch(replica -> replica.partition().equals(partition)))
                && replicas.stream().allMatch(replica -> replica.committed.isAtEnd() && replica.everything.isAtEnd());
    }

    /** The replicas that have been read. */
    public List<Replica> replicas() {
        return replicas;
    }

    /** The jobs that copy records. */
    public List<CopyJob> jobs() {
        return jobs;
    }

    /** The job with this group; null if there is none. */
    public CopyJob job(String group) {
        return jobs.stream().filter(job -> job.id().equals(group)).findFirst().orElse(null);
    }

    /** All transactions that were begun. */
    public List<SentTransaction> transactions() {
        return copiers.stream()
                .flatMap(copier -> copier.transactions().stream())
                .toList();
    }

    /** What has not been read, with the last errors. */
    public String unread() {
        StringBuilder unread = new StringBuilder();
        Stream.of(
                        readers.stream(),
                        committedReaders.values().stream(),
                        replicas.stream().flatMap(one -> Stream.of(one.committed, one.everything)))
                .flatMap(all -> all)
                .filter(reader -> !reader.isAtEnd())
                .forEach(reader -> unread.append(' ').append(reader));
        Stream.concat(groups.stream(), positions.stream())
                .filter(group -> !group.isRead())
                .forEach(group -> unread.append(' ').append(group));
        return unread.toString();
    }
}
