package io.journalq.sim;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.sim.check.LogIsSound;
import io.journalq.sim.check.NothingAcknowledgedIsLost;
import io.journalq.sim.workload.Administrator;
import io.journalq.sim.workload.CommittedOffsetQuery;
import io.journalq.sim.workload.Committer;
import io.journalq.sim.workload.GroupHistory;
import io.journalq.sim.workload.InternalTopicSettings;
import io.journalq.sim.workload.PartitionHistory;
import io.journalq.sim.workload.ReadBack;
import io.journalq.sim.workload.SentTransaction;
import io.journalq.sim.workload.SimClassicMember;
import io.journalq.sim.workload.SimConsumer;
import io.journalq.sim.workload.SimConsumerMember;
import io.journalq.sim.workload.SimGroupMember;
import io.journalq.sim.workload.SimProducer;
import io.journalq.sim.workload.SimTransactionalProducer;
import io.journalq.sim.workload.Topic;
import io.journalq.sim.workload.TopicInventory;
import io.journalq.sim.workload.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** The topics of one simulation, and its clients. */
final class SimClients {
    private static final int MOST_TOPICS = 2;
    private static final int MOST_MEMBERS = 3;

    private final World world;
    private final Random random;
    private final List<Topic> topics = new ArrayList<>();
    private final Administrator administrator;
    private final List<SimProducer> producers = new ArrayList<>();
    private final List<SimConsumer> consumers = new ArrayList<>();
    private final List<Committer> committers = new ArrayList<>();
    private final List<SimTransactionalProducer> transactional = new ArrayList<>();
    private final List<GroupHistory> groups = new ArrayList<>();
    private final List<SimGroupMember> members = new ArrayList<>();
    private final boolean administrated;
    private boolean working;

    SimClients(World world, Random random) {
        this.world = world;
        this.random = random;
        this.administrator = new Administrator(world, topics, this::onPresent);
        this.administrated = random.nextInt(3) == 0;
    }

    /** Creates the first topics, and their clients. */
    void createTopics() {
        int count = 1 + random.nextInt(MOST_TOPICS);
        for (int i = 0; i < count; i++) {
            boolean[] done = new boolean[1];
            administrator.create(world.broker().connect(), () -> done[0] = true);
            world.runUntil(() -> done[0]);
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            transactional.add(new SimTransactionalProducer(world, topics, "t" + i));
        }
        if (random.nextInt(3) == 0) {
            addMembers(random.nextBoolean());
        }
    }

    private void addMembers(boolean classic) {
        GroupHistory group = new GroupHistory(world, classic ? "classic" : "modern");
        groups.add(group);
        for (int i = 1 + random.nextInt(MOST_MEMBERS); i > 0; i--) {
            members.add(
                    classic
                            ? new SimClassicMember(world, group, topics)
                            : new SimConsumerMember(world, group, topics, "member" + i));
        }
    }

    /** Creates the clients of a new topic. */
    private void onPresent(Topic topic) {
        for (PartitionHistory partition : topic.partitions()) {
            SimConsumer consumer = new SimConsumer(world, partition, random.nextBoolean());
            Committer committer = new Committer(world, "group" + random.nextInt(2), consumer);
            consumers.add(consumer);
            committers.add(committer);
            List<SimProducer> added = new ArrayList<>();
            for (int i = 1 + random.nextInt(2); i > 0; i--) {
                added.add(new SimProducer(
                        world, partition, "p" + (producers.size() + added.size()), random.nextInt(4) > 0));
            }
            producers.addAll(added);
            if (working) {
                consumer.onStart();
                committer.onStart();
                added.forEach(SimProducer::onStart);
            }
        }
    }

    /** All transactions that were begun. */
    List<SentTransaction> transactions() {
        return transactional.stream()
                .flatMap(producer -> producer.transactions().stream())
                .toList();
    }

    boolean anyTransactions() {
        return !transactional.isEmpty();
    }

    /** A life of the broker begins: all clients start. */
    void start() {
        working = true;
        producers.forEach(SimProducer::onStart);
        consumers.forEach(SimConsumer::onStart);
        committers.forEach(Committer::onStart);
        transactional.forEach(SimTransactionalProducer::onStart);
        members.forEach(SimGroupMember::onStart);
        if (administrated) {
            administrator.onStart();
        }
        InternalTopicSettings.shrink(world);
    }

    /** The broker has crashed or stopped. */
    void stop() {
        working = false;
        groups.forEach(GroupHistory::onCrash);
    }

    /** Forgets what the groups were told: a power loss may have taken their newest states. */
    void forgetGroups() {
        groups.forEach(GroupHistory::forget);
    }

    /** Updates the topics with those that the broker has, and removes the clients of deleted topics. */
    void settleTopics(TopicInventory inventory) {
        inventory.settle(topics, this::onPresent);
        producers.removeIf(SimProducer::isDone);
        consumers.removeIf(SimConsumer::isDone);
        committers.removeIf(Committer::isDone);
    }

    List<ReadBack> readEverything(boolean readCommitted) {
        return partitions()
                .map(partition -> ReadBack.start(world, partition, readCommitted))
                .toList();
    }

    List<CommittedOffsetQuery> queryCommits() {
        return world.allCommits().stream()
                .map(history -> CommittedOffsetQuery.ask(world, history))
                .toList();
    }

    private Stream<PartitionHistory> partitions() {
        return topics.stream()
                .filter(topic -> topic.state() == Topic.State.PRESENT)
                .flatMap(topic -> topic.partitions().stream());
    }

    /** Checks what was read of a partition against its history. */
    void check(
            ReadBack reading,
            NothingAcknowledgedIsLost losses,
            LogIsSound soundness,
            NothingAcknowledgedIsLost.End end) {
        PartitionHistory partition = reading.partition();
        boolean unreadable = reading.error() != ErrorCode.NONE || reading.corrupt() != null;
        if (unreadable && !end.harmed()) {
            world.report("EverythingIsReadable", partition + ": " + reading.error() + ", " + reading.corrupt());
            return;
        }
        if (reading.hasGapAtEnd()
                && !partition.mayEndInAGap(reading.highWatermark(), end.powerLost() || end.harmed())) {
            world.report("EverythingIsReadable", partition + " has a gap at its end, " + reading.highWatermark());
        }
        losses.check(partition, reading, end, world.clockMs());
        world.onReadBack(partition, reading.records());
        soundness.check(partition, reading, end.harmed());
    }
}
