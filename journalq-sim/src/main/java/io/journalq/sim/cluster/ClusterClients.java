package io.journalq.sim.cluster;

import io.journalq.sim.world.SimWorld;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** All clients of a simulated cluster. */
public final class ClusterClients {
    private final SimWorld world;
    private final Random random;
    private final ClusterListener listener;
    private final ClusterAdministrator administrator;
    private final int maxGroups;
    private final List<ClusterPartition> partitions = new ArrayList<>();
    private final List<ClusterProducer> producers = new ArrayList<>();
    private final List<ClusterConsumer> consumers = new ArrayList<>();
    private final List<ClusterConsumer> readers = new ArrayList<>();
    private final List<ClusterGroup> groups = new ArrayList<>();
    private boolean stopped;

    /**
     * Creates clients that have not started.
     *
     * @param topics number of topics that are created in the course of the simulation
     * @param replicates whether most of them have several replicas
     * @param maxGroups number of groups that commit offsets of topics with several replicas
     */
    public ClusterClients(
            SimWorld world, Random random, ClusterListener listener, int topics, boolean replicates, int maxGroups) {
        this.world = world;
        this.random = random;
        this.listener = listener;
        this.maxGroups = maxGroups;
        this.administrator = new ClusterAdministrator(newClient(), listener, topics, replicates, this::onPartition);
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
                new ClusterProducer(newClient(), listener, partition, "p" + partition.topic() + partition.number());
        ClusterConsumer consumer = new ClusterConsumer(newClient(), listener, partition);
        producers.add(producer);
        consumers.add(consumer);
        if (stopped) {
            return;
        }
        producer.start();
        consumer.start();
        if (partition.replicated() && groups.size() < maxGroups) {
            ClusterGroup group = new ClusterGroup(newClient(), listener, partition, "group-" + groups.size());
            groups.add(group);
            group.start();
        }
    }

    /** Moves no more partitions to other brokers. */
    public void stopMoving() {
        administrator.stopMoving();
    }

    /** Stops all clients. Requests on their way still arrive. */
    public void stop() {
        stopped = true;
        administrator.stop();
        producers.forEach(ClusterProducer::stop);
        consumers.forEach(ClusterConsumer::stop);
        groups.forEach(ClusterGroup::stop);
    }

    /** Reads all partitions from the beginning, and the offsets of all groups. */
    public void readEverything() {
        for (ClusterPartition partition : partitions) {
            ClusterConsumer reader = new ClusterConsumer(newClient(), listener, partition);
            readers.add(reader);
            reader.start();
        }
        groups.forEach(ClusterGroup::read);
    }

    /** Whether all partitions and the offsets of all groups have been read. */
    public boolean isEverythingRead() {
        return readers.stream().allMatch(ClusterConsumer::isAtEnd)
                && groups.stream().allMatch(ClusterGroup::isRead);
    }

    /** The partitions and groups that have not been read, with the last errors. */
    public String unread() {
        StringBuilder unread = new StringBuilder();
        for (ClusterConsumer reader : readers) {
            if (!reader.isAtEnd()) {
                unread.append(' ').append(reader.partition()).append(": ").append(reader.lastError());
            }
        }
        groups.stream().filter(group -> !group.isRead()).forEach(group -> unread.append(' ')
                .append(group));
        return unread.toString();
    }
}
