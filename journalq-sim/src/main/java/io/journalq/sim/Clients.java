package io.journalq.sim;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.sim.check.LogIsSound;
import io.journalq.sim.check.NothingAcknowledgedIsLost;
import io.journalq.sim.workload.Committer;
import io.journalq.sim.workload.Consumer;
import io.journalq.sim.workload.PartitionHistory;
import io.journalq.sim.workload.Producer;
import io.journalq.sim.workload.ReadBack;
import io.journalq.sim.workload.Transaction;
import io.journalq.sim.workload.TransactionalProducer;
import io.journalq.sim.workload.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The topics of one simulation, and who works on them. */
final class Clients {
    private static final int CREATE_VERSION = 7;
    private static final List<String> MODES =
            List.of("eventual", "consistent", "eventual", "consistent", "performance");
    private static final int LONGEST_WRITE_INTERVAL_MS = 100;
    private static final int MOST_TOPICS = 2;
    private static final int MOST_PARTITIONS = 2;

    private final World world;
    private final Random random;
    private final List<PartitionHistory> partitions = new ArrayList<>();
    private final List<Producer> producers = new ArrayList<>();
    private final List<Consumer> consumers = new ArrayList<>();
    private final List<Committer> committers = new ArrayList<>();
    private final List<TransactionalProducer> transactional = new ArrayList<>();

    Clients(World world, Random random) {
        this.world = world;
        this.random = random;
    }

    List<Committer> committers() {
        return committers;
    }

    /** Whether there is a topic that may lose something when power is lost. */
    boolean anyEventual() {
        return partitions.stream().anyMatch(partition -> !partition.isConsistent());
    }

    /** Whether there is a topic that may lose something when the broker is killed. */
    boolean anyInMemory() {
        return partitions.stream().anyMatch(PartitionHistory::isAcknowledgedFromMemory);
    }

    /** Creates the topics, and prepares their clients. */
    void createTopics() {
        int count = 1 + random.nextInt(MOST_TOPICS);
        for (int i = 0; i < count; i++) {
            createTopic("topic" + i, MODES.get(random.nextInt(MODES.size())));
        }
        for (PartitionHistory partition : partitions) {
            Consumer consumer = new Consumer(world, partition);
            consumers.add(consumer);
            committers.add(new Committer(world, "group" + random.nextInt(2), consumer));
            for (int i = 1 + random.nextInt(2); i > 0; i--) {
                String name = "p" + producers.size();
                producers.add(new Producer(world, partition, name, random.nextInt(4) > 0));
            }
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            transactional.add(new TransactionalProducer(world, partitions, "t" + i));
        }
    }

    /** Every transaction that was begun. */
    List<Transaction> transactions() {
        return transactional.stream()
                .flatMap(producer -> producer.transactions().stream())
                .toList();
    }

    private void createTopic(String name, String mode) {
        long writeIntervalMs = mode.equals("performance") ? 1 + random.nextInt(LONGEST_WRITE_INTERVAL_MS) : 0;
        long flushIntervalMs = Scenario.flushInterval(random);
        int count = 1 + random.nextInt(MOST_PARTITIONS);
        CreateTopicsRequest request = new CreateTopicsRequest()
                .setTimeoutMs(60_000)
                .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                        .setName(name)
                        .setNumPartitions(count)
                        .setReplicationFactor((short) 1)
                        .setConfigs(List.of(
                                config("delivery.mode", mode),
                                config("write.interval.ms", Long.toString(Math.max(1, writeIntervalMs))),
                                config("flush.interval.ms", Long.toString(flushIntervalMs)),
                                config("segment.bytes", Integer.toString(Scenario.segmentBytes(random)))))));
        Uuid[] id = new Uuid[1];
        world.broker().connect().send(ApiKey.CREATE_TOPICS, CREATE_VERSION, request, answer -> {
            CreateTopicsResponse.CreatableTopicResult result =
                    ((CreateTopicsResponse) answer).topics().get(0);
            if (result.errorCode() != 0) {
                world.report("TopicsAreCreated", name + ": " + ErrorCode.of(result.errorCode()));
            }
            id[0] = result.topicId();
        });
        world.runUntil(() -> id[0] != null);
        PartitionHistory.Promise promise = new PartitionHistory.Promise(mode, writeIntervalMs, flushIntervalMs);
        for (int i = 0; i < count; i++) {
            partitions.add(new PartitionHistory(name, id[0], i, promise));
        }
    }

    private static CreateTopicsRequest.CreatableTopicConfig config(String name, String value) {
        return new CreateTopicsRequest.CreatableTopicConfig().setName(name).setValue(value);
    }

    /** Everybody goes to work on the broker's new life. */
    void start() {
        producers.forEach(Producer::onStart);
        consumers.forEach(Consumer::onStart);
        committers.forEach(Committer::onStart);
        transactional.forEach(TransactionalProducer::onStart);
    }

    List<ReadBack> readEverything() {
        return partitions.stream()
                .map(partition -> ReadBack.start(world, partition))
                .toList();
    }

    /** Holds what was read of a partition against what is known of it. */
    void judge(
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
        if (reading.hasGapAtEnd() && !partition.mayEndInAGap(reading.highWatermark(), end.powerLost())) {
            world.report("EverythingIsReadable", partition + " has a gap at its end, " + reading.highWatermark());
        }
        losses.check(partition, reading, end);
        world.onReadBack(partition, reading.records());
        soundness.check(partition, reading, end.harmed());
    }
}
