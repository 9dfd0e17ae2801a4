package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.Consumer;
import io.journalq.client.group.RebalanceListener;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Three brokers in processes of their own. The coordinators of groups are killed while the groups commit, and brokers of
 * all roles while records are copied in transactions. Logs at level WARN for how long nothing was committed.
 */
@Tag("long")
class CoordinatorFailoverTest {
    private static final Logger log = LoggerFactory.getLogger(CoordinatorFailoverTest.class);

    private static final int BROKERS = 3;
    private static final int PARTITIONS = 3;
    private static final int PAUSE_MS = 10;
    private static final int REQUEST_TIMEOUT_MS = 1_500;
    private static final String TOPIC = "orders";
    private static final String COPIES = "copies";
    private static final String TRANSACTIONAL_ID = "copier";

    private final List<Work> works = new ArrayList<>();

    private ProcessCluster cluster;

    @TempDir
    Path directory;

    @RegisterExtension
    final BrokerLogs logs = new BrokerLogs(() -> directory);

    @BeforeEach
    void startThree() throws Exception {
        cluster = new ProcessCluster(directory);
        cluster.startAll(BROKERS);
    }

    @AfterEach
    void close() throws InterruptedException {
        for (Work work : works) {
            work.end();
        }
        cluster.close();
    }

    private void createTopic(String name) throws Exception {
        try (Admin admin = cluster.admin()) {
            NewTopic topic =
                    new NewTopic(name, PARTITIONS, (short) BROKERS).configs(Map.of("min.insync.replicas", "2"));
            admin.createTopics(List.of(topic)).all().get(60, TimeUnit.SECONDS);
        }
    }

    /** Does one step after the other until it ends. */
    private abstract static class Work extends Thread {
        private volatile boolean ended;
        private volatile Throwable failure;
        private AutoCloseable client;

        Work(String name) {
            super(name);
            setDaemon(true);
        }

        @Override
        public void run() {
            client = client();
            try {
                while (!ended) {
                    step();
                }
                client.close();
            } catch (Exception | AssertionError unexpected) {
                failure = unexpected;
                log.error("{} has failed", getName(), unexpected);
            }
        }

        void restartClient() {
            client = client();
        }

        /** Creates the client, which is closed at the end. */
        abstract AutoCloseable client();

        abstract void step() throws Exception;

        void end() throws InterruptedException {
            ended = true;
            join(TimeUnit.SECONDS.toMillis(60));
        }
    }

    private final class Feed extends Work {
        private KafkaProducer<String, String> producer;
        private int number;

        Feed() {
            super("feed");
        }

        @Override
        AutoCloseable client() {
            producer = new KafkaProducer<>(
                    Map.of("bootstrap.servers", cluster.bootstrapServers(), "request.timeout.ms", REQUEST_TIMEOUT_MS),
                    new StringSerializer(),
                    new StringSerializer());
            return producer;
        }

        @Override
        void step() throws InterruptedException {
            var unused = producer.send(new ProducerRecord<>(TOPIC, number % PARTITIONS, null, "record " + number));
            number++;
            Thread.sleep(PAUSE_MS);
        }
    }

    /** The only member of a group, which commits what it has read. */
    private abstract static class Member extends Work {
        private final Map<TopicPartition, Long> committed = new ConcurrentHashMap<>();
        private volatile long longestGapNanos;
        private final AtomicInteger assignments = new AtomicInteger();
        private long lastNanos = System.nanoTime();

        Member(String group) {
            super(group);
        }

        void onAssigned(Collection<?> partitions) {
            if (!partitions.isEmpty()) {
                assignments.incrementAndGet();
            }
        }

        /** The next member is another one, to which the partitions are assigned once. */
        void restartAssignments() {
            assignments.set(0);
        }

        void onCommitted(Map<TopicPartition, Long> offsets) {
            offsets.forEach((partition, offset) -> committed.merge(partition, offset, Math::max));
            long nowNanos = System.nanoTime();
            longestGapNanos = Math.max(longestGapNanos, nowNanos - lastNanos);
            lastNanos = nowNanos;
        }
    }

    private final class KafkaMember extends Member {
        private final String protocol;
        private KafkaConsumer<String, String> consumer;

        KafkaMember(String protocol) {
            super("kafka-" + protocol);
            this.protocol = protocol;
        }

        @Override
        AutoCloseable client() {
            consumer = new KafkaConsumer<>(
                    Map.of(
                            "bootstrap.servers",
                            cluster.bootstrapServers(),
                            "group.id",
                            getName(),
                            "group.protocol",
                            protocol,
                            "auto.offset.reset",
                            "earliest",
                            "enable.auto.commit",
                            false,
                            "request.timeout.ms",
                            REQUEST_TIMEOUT_MS),
                    new StringDeserializer(),
                    new StringDeserializer());
            consumer.subscribe(List.of(TOPIC), new ConsumerRebalanceListener() {
                @Override
                public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                    // Counted when they are assigned.
                }

                @Override
                public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                    onAssigned(partitions);
                }
            });
            return consumer;
        }

        @Override
        void step() {
            Map<TopicPartition, Long> read = new HashMap<>();
            try {
                consumer.poll(Duration.ofMillis(100))
                        .forEach(found ->
                                read.put(new TopicPartition(found.topic(), found.partition()), found.offset() + 1));
            } catch (IllegalStateException failure) {
                if (!KafkaClientFaults.isLeaderRace(protocol, failure)) {
                    throw failure;
                }
                consumer.close();
                restartAssignments();
                restartClient();
            }
            if (!read.isEmpty()) {
                consumer.commitSync();
                onCommitted(read);
            }
        }
    }

    private final class OwnMember extends Member {
        private Consumer consumer;

        OwnMember() {
            super("journalq");
        }

        @Override
        AutoCloseable client() {
            consumer = Consumer.builder()
                    .bootstrapServers(cluster.bootstrapServers())
                    .groupId(getName())
                    .autoCommit(false)
                    .startAt(Consumer.Start.BEGINNING)
                    .requestTimeout(Duration.ofMillis(REQUEST_TIMEOUT_MS))
                    .build();
            consumer.subscribe(List.of(TOPIC), new RebalanceListener() {
                @Override
                public void onAssigned(Collection<io.journalq.common.id.TopicPartition> partitions) {
                    OwnMember.this.onAssigned(partitions);
                }
            });
            return consumer;
        }

        @Override
        void step() {
            Map<TopicPartition, Long> read = new HashMap<>();
            consumer.poll(Duration.ofMillis(100))
                    .forEach(found ->
                            read.put(new TopicPartition(found.topic(), found.partition()), found.offset() + 1));
            if (!read.isEmpty()) {
                consumer.commit();
                onCommitted(read);
            }
        }
    }

    /** Asks for the offsets of a group. They must not be behind what was committed before. */
    private final class Watch extends Work {
        private final List<Member> members;
        private Admin admin;
        private final AtomicInteger responses = new AtomicInteger();

        Watch(List<Member> members) {
            super("watch");
            this.members = members;
        }

        @Override
        AutoCloseable client() {
            admin = cluster.admin();
            return admin;
        }

        @Override
        void step() throws Exception {
            for (Member member : members) {
                Map<TopicPartition, Long> before = Map.copyOf(member.committed);
                Map<TopicPartition, OffsetAndMetadata> offsets;
                try {
                    offsets = admin.listConsumerGroupOffsets(member.getName())
                            .partitionsToOffsetAndMetadata()
                            .get(30, TimeUnit.SECONDS);
                } catch (java.util.concurrent.ExecutionException unavailable) {
                    continue;
                }
                before.forEach(
                        (partition, offset) -> assertThat(offsets.get(partition).offset())
                                .as("%s of %s", partition, member.getName())
                                .isGreaterThanOrEqualTo(offset));
                responses.incrementAndGet();
            }
            Thread.sleep(50);
        }
    }

    private int coordinatorOf(String group) throws Exception {
        try (Admin admin = cluster.admin()) {
            return admin.describeConsumerGroups(List.of(group))
                    .describedGroups()
                    .get(group)
                    .get(10, TimeUnit.SECONDS)
                    .coordinator()
                    .id();
        }
    }

    private void awaitAllInSync(String... topics) throws Exception {
        ProcessCluster.await("full in-sync replicas", () -> {
            try (Admin admin = cluster.admin()) {
                return admin.describeTopics(List.of(topics)).allTopicNames().get(10, TimeUnit.SECONDS).values().stream()
                        .flatMap(topic -> topic.partitions().stream())
                        .allMatch(partition -> partition.isr().size() == BROKERS);
            }
        });
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void shouldKeepGroupsAndTheirOffsetsWhenTheirCoordinatorsAreKilled() throws Exception {
        // given groups of both protocols and both clients, which commit
        createTopic(TOPIC);
        List<Member> members = List.of(new KafkaMember("classic"), new KafkaMember("consumer"), new OwnMember());
        Watch watch = new Watch(members);
        works.add(new Feed());
        works.addAll(members);
        works.add(watch);
        works.forEach(Thread::start);
        awaitProgress(members);
        awaitAllInSync(TOPIC, "__consumer_offsets");

        // when the coordinator of each is killed, and comes back
        for (Member member : members) {
            int victim = coordinatorOf(member.getName());
            for (Member one : members) {
                one.longestGapNanos = 0;
            }
            cluster.kill(victim);
            awaitProgress(members);
            for (Member one : members) {
                log.warn(
                        "measured: victim={} coordinatorOf={} group={} longestGapMs={}",
                        victim,
                        member.getName(),
                        one.getName(),
                        TimeUnit.NANOSECONDS.toMillis(one.longestGapNanos));
            }
            cluster.start(victim);
            awaitAllInSync(TOPIC, "__consumer_offsets");
        }
        for (Work work : works) {
            work.end();
        }

        // then nothing has failed or gone back, and no group had to assign its partitions again
        assertThat(works)
                .allSatisfy(work -> assertThat(work.failure).as(work.getName()).isNull());
        assertThat(watch.responses.get()).isGreaterThan(20);
        assertThat(members)
                .allSatisfy(member ->
                        assertThat(member.assignments).as(member.getName()).hasValue(1));
    }

    /** Copies records in transactions, together with the positions up to which they were read. */
    private final class Copier extends Work {
        private final AtomicInteger copied = new AtomicInteger();
        private final AtomicInteger recoveries = new AtomicInteger();
        private KafkaConsumer<String, String> consumer;
        private KafkaProducer<String, String> producer;
        private volatile long longestGapNanos;
        private long lastNanos = System.nanoTime();

        Copier() {
            super("copier");
        }

        @Override
        AutoCloseable client() {
            consumer = new KafkaConsumer<>(
                    Map.of(
                            "bootstrap.servers",
                            cluster.bootstrapServers(),
                            "group.id",
                            "copiers",
                            "auto.offset.reset",
                            "earliest",
                            "enable.auto.commit",
                            false,
                            "isolation.level",
                            "read_committed",
                            "max.poll.records",
                            20,
                            "request.timeout.ms",
                            REQUEST_TIMEOUT_MS),
                    new StringDeserializer(),
                    new StringDeserializer());
            List<TopicPartition> partitions = new ArrayList<>();
            for (int partition = 0; partition < PARTITIONS; partition++) {
                partitions.add(new TopicPartition(TOPIC, partition));
            }
            consumer.assign(partitions);
            producer = producer();
            return () -> {
                consumer.close();
                producer.close();
            };
        }

        private KafkaProducer<String, String> producer() {
            KafkaProducer<String, String> created = new KafkaProducer<>(
                    Map.of(
                            "bootstrap.servers",
                            cluster.bootstrapServers(),
                            "transactional.id",
                            TRANSACTIONAL_ID,
                            "transaction.timeout.ms",
                            20_000,
                            "max.block.ms",
                            30_000,
                            "request.timeout.ms",
                            REQUEST_TIMEOUT_MS,
                            "delivery.timeout.ms",
                            20_000),
                    new StringSerializer(),
                    new StringSerializer());
            created.initTransactions();
            return created;
        }

        @Override
        void step() {
            try {
                ConsumerRecords<String, String> found = consumer.poll(Duration.ofMillis(100));
                if (!found.isEmpty()) {
                    copy(found);
                }
            } catch (KafkaException failure) {
                log.warn("the copier starts again", failure);
                recover();
            }
        }

        private void copy(ConsumerRecords<String, String> found) {
            Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
            producer.beginTransaction();
            for (ConsumerRecord<String, String> record : found) {
                var unused = producer.send(new ProducerRecord<>(COPIES, record.partition(), null, record.value()));
                positions.put(
                        new TopicPartition(TOPIC, record.partition()), new OffsetAndMetadata(record.offset() + 1));
            }
            producer.sendOffsetsToTransaction(positions, consumer.groupMetadata());
            producer.commitTransaction();
            copied.addAndGet(found.count());
            long nowNanos = System.nanoTime();
            longestGapNanos = Math.max(longestGapNanos, nowNanos - lastNanos);
            lastNanos = nowNanos;
        }

        /** Another producer with the same id ends what this one has begun. The committed positions say what it was. */
        private void recover() {
            recoveries.incrementAndGet();
            producer.close(Duration.ZERO);
            while (true) {
                try {
                    producer = producer();
                    Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(consumer.assignment());
                    committed.forEach((partition, position) ->
                            consumer.seek(partition, position == null ? 0 : position.offset()));
                    return;
                } catch (KafkaException again) {
                    log.warn("the copier cannot start yet", again);
                }
            }
        }
    }

    private int transactionCoordinator() throws Exception {
        try (Admin admin = cluster.admin()) {
            return admin.describeTransactions(List.of(TRANSACTIONAL_ID))
                    .description(TRANSACTIONAL_ID)
                    .get(10, TimeUnit.SECONDS)
                    .coordinatorId();
        }
    }

    private int leaderOfCopies() throws Exception {
        try (Admin admin = cluster.admin()) {
            return admin.describeTopics(List.of(COPIES))
                    .allTopicNames()
                    .get(10, TimeUnit.SECONDS)
                    .get(COPIES)
                    .partitions()
                    .get(0)
                    .leader()
                    .id();
        }
    }

    private int controller() throws Exception {
        try (Admin admin = cluster.admin()) {
            return admin.describeCluster()
                    .controller()
                    .get(10, TimeUnit.SECONDS)
                    .id();
        }
    }

    private interface Victim {
        int find() throws Exception;
    }

    @Test
    @Timeout(value = 15, unit = TimeUnit.MINUTES)
    void shouldCopyEachRecordExactlyOnceWhenBrokersAreKilledInTurn() throws Exception {
        // given
        createTopic(TOPIC);
        createTopic(COPIES);
        Feed feed = new Feed();
        Copier copier = new Copier();
        works.add(feed);
        works.add(copier);
        works.forEach(Thread::start);
        awaitCopies(copier);
        awaitAllInSync(TOPIC, COPIES, "__consumer_offsets", "__transaction_state");

        // when
        Map<String, Victim> victims = new LinkedHashMap<>();
        victims.put("coordinator", this::transactionCoordinator);
        victims.put("leader", this::leaderOfCopies);
        victims.put("controller", this::controller);
        for (Map.Entry<String, Victim> fault : victims.entrySet()) {
            int victim = fault.getValue().find();
            copier.longestGapNanos = 0;
            cluster.kill(victim);
            awaitCopies(copier);
            log.warn(
                    "measured: killed={} longestGapMs={} recoveries={}",
                    fault.getKey(),
                    TimeUnit.NANOSECONDS.toMillis(copier.longestGapNanos),
                    copier.recoveries);
            cluster.start(victim);
            awaitAllInSync(TOPIC, COPIES, "__consumer_offsets", "__transaction_state");
        }
        feed.end();
        Map<Integer, List<String>> fed = readAll(TOPIC);
        long count = fed.values().stream().mapToLong(List::size).sum();
        ProcessCluster.await(
                "the last copies",
                () -> readAll(COPIES).values().stream().mapToLong(List::size).sum() >= count);
        copier.end();

        // then each partition has the same records in the same order
        assertThat(works)
                .allSatisfy(work -> assertThat(work.failure).as(work.getName()).isNull());
        assertThat(readAll(COPIES)).isEqualTo(fed);
    }

    private static void awaitCopies(Copier copier) throws Exception {
        int before = copier.copied.get();
        ProcessCluster.await("copies", () -> copier.copied.get() > before + 100);
    }

    /** The committed records of a topic, by partition. */
    private Map<Integer, List<String>> readAll(String topic) {
        Map<Integer, List<String>> read = new HashMap<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", cluster.bootstrapServers(), "isolation.level", "read_committed"),
                new StringDeserializer(),
                new StringDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (int partition = 0; partition < PARTITIONS; partition++) {
                partitions.add(new TopicPartition(topic, partition));
            }
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, Duration.ofSeconds(60));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (System.nanoTime() < deadline
                    && !partitions.stream().allMatch(one -> consumer.position(one) >= ends.get(one))) {
                for (ConsumerRecord<String, String> found : consumer.poll(Duration.ofMillis(200))) {
                    read.computeIfAbsent(found.partition(), none -> new ArrayList<>())
                            .add(found.value());
                }
            }
        }
        return read;
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void shouldMoveOffsetsBackWhenAnElectionLosesRecords() throws Exception {
        // given a replica with 10 records, and a group that has read 20 of the other replica
        try (Admin admin = cluster.admin()) {
            NewTopic topic = new NewTopic(TOPIC, Map.of(0, List.of(1, 2)))
                    .configs(Map.of("unclean.leader.election.enable", "true"));
            admin.createTopics(List.of(topic)).all().get(60, TimeUnit.SECONDS);
        }
        TopicPartition partition = new TopicPartition(TOPIC, 0);
        send(partition, 10);
        cluster.kill(2);
        awaitInSync(1);
        send(partition, 10);
        commitAll(partition, 20);

        // when the replica with fewer records is made to lead
        cluster.kill(1);
        cluster.start(2);
        ProcessCluster.await("an election", () -> {
            try (Admin admin = cluster.admin()) {
                admin.electLeaders(ElectionType.UNCLEAN, Set.of(partition))
                        .all()
                        .get(10, TimeUnit.SECONDS);
            }
            return true;
        });

        // then the group continues there
        ProcessCluster.await("an offset that is moved back", () -> committed(partition) == 10);
    }

    private void send(TopicPartition partition, int count) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", cluster.bootstrapServers()),
                new StringSerializer(),
                new StringSerializer())) {
            for (int number = 0; number < count; number++) {
                producer.send(new ProducerRecord<>(partition.topic(), partition.partition(), null, "record"))
                        .get(60, TimeUnit.SECONDS);
            }
        }
    }

    private void awaitInSync(int replicas) throws Exception {
        ProcessCluster.await("in-sync replicas", () -> {
            try (Admin admin = cluster.admin()) {
                return admin.describeTopics(List.of(TOPIC))
                                .allTopicNames()
                                .get(10, TimeUnit.SECONDS)
                                .get(TOPIC)
                                .partitions()
                                .get(0)
                                .isr()
                                .size()
                        == replicas;
            }
        });
    }

    private void commitAll(TopicPartition partition, int count) {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", cluster.bootstrapServers(), "group.id", "readers"),
                new StringDeserializer(),
                new StringDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            while (consumer.position(partition) < count) {
                var unused = consumer.poll(Duration.ofMillis(200));
            }
            consumer.commitSync(Duration.ofSeconds(60));
        }
    }

    private long committed(TopicPartition partition) throws Exception {
        try (Admin admin = cluster.admin()) {
            return admin.listConsumerGroupOffsets("readers")
                    .partitionsToOffsetAndMetadata()
                    .get(10, TimeUnit.SECONDS)
                    .get(partition)
                    .offset();
        }
    }

    private static void awaitProgress(List<Member> members) throws Exception {
        Map<Member, Long> before = new HashMap<>();
        members.forEach(member -> before.put(member, sum(member)));
        // More than the records that were in flight.
        ProcessCluster.await(
                "commits", () -> members.stream().allMatch(member -> sum(member) > before.get(member) + 100));
    }

    private static long sum(Member member) {
        return member.committed.values().stream().mapToLong(Long::longValue).sum();
    }
}
