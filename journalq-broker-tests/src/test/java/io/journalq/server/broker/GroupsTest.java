package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.GroupNotEmptyException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Classic consumer groups and committed offsets, with Kafka's own consumers and administrator. */
class GroupsTest {
    private static final int PARTITIONS = 6;
    private static final long LIMIT_SECONDS = 60;
    private static final Duration POLL = Duration.ofMillis(100);

    @TempDir
    Path dataDirectory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("shards", "2")
                .with("group.initial.rebalance.delay.ms", "0")
                .with("group.min.session.timeout.ms", "100")
                .start();
        broker.createTopic("t", PARTITIONS, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private KafkaConsumer<byte[], byte[]> member(String group, Class<?> assignor, Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put("group.id", group);
        settings.put("group.protocol", "classic");
        settings.put("enable.auto.commit", false);
        settings.put("partition.assignment.strategy", assignor.getName());
        settings.put("heartbeat.interval.ms", 50);
        return broker.consumer(settings);
    }

    private void produce(int from, int to) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = from; i < to; i++) {
                var unused = producer.send(new ProducerRecord<>("t", i % PARTITIONS, null, bytes(i)))
                        .get(LIMIT_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    private static byte[] bytes(int number) {
        return Integer.toString(number).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }

    private static int number(ConsumerRecord<byte[], byte[]> record) {
        return Integer.parseInt(new String(record.value(), java.nio.charset.StandardCharsets.UTF_8));
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    /** Polls all members in turn until the condition holds. */
    private static void pollUntil(
            List<KafkaConsumer<byte[], byte[]>> members, Collection<Integer> seen, Condition condition)
            throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as("time left").isLessThan(deadlineNanos);
            for (KafkaConsumer<byte[], byte[]> member : members) {
                member.poll(POLL).forEach(record -> seen.add(number(record)));
            }
        }
    }

    private static boolean isShared(List<KafkaConsumer<byte[], byte[]>> members) {
        List<TopicPartition> assigned = new ArrayList<>();
        members.forEach(member -> assigned.addAll(member.assignment()));
        boolean everyoneHasSome =
                members.stream().noneMatch(member -> member.assignment().isEmpty());
        return everyoneHasSome
                && assigned.size() == PARTITIONS
                && Set.copyOf(assigned).size() == PARTITIONS;
    }

    @ParameterizedTest
    @ValueSource(classes = {RangeAssignor.class, CooperativeStickyAssignor.class})
    void shouldShareThePartitionsAmongItsMembersAsTheyComeAndGo(Class<?> assignor) throws Exception {
        List<Integer> seen = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> first = member("g", assignor, Map.of());
                KafkaConsumer<byte[], byte[]> second = member("g", assignor, Map.of())) {
            // when a second member joins
            first.subscribe(List.of("t"));
            pollUntil(List.of(first), seen, () -> isShared(List.of(first)));
            second.subscribe(List.of("t"));
            pollUntil(List.of(first, second), seen, () -> isShared(List.of(first, second)));
            // then new messages are read by one of them, once
            produce(0, 60);
            pollUntil(List.of(first, second), seen, () -> seen.size() >= 60);
            assertThat(seen).doesNotHaveDuplicates().hasSize(60);
            // and when one leaves, the other gets all partitions and continues at the committed offsets
            first.commitSync();
            second.commitSync();
            first.unsubscribe();
            pollUntil(List.of(second), seen, () -> isShared(List.of(second)));
            produce(60, 90);
            pollUntil(List.of(second), seen, () -> seen.size() >= 90);
            assertThat(seen).doesNotHaveDuplicates().hasSize(90);
        }
    }

    @Test
    void shouldTakeAMemberForDeadThatFallsSilent() throws Exception {
        List<Integer> seen = new ArrayList<>();
        KafkaConsumer<byte[], byte[]> silent = member(
                "g",
                RangeAssignor.class,
                Map.of("session.timeout.ms", 600, "max.poll.interval.ms", 500, "group.instance.id", "fixed"));
        try (silent;
                KafkaConsumer<byte[], byte[]> other =
                        member("g", RangeAssignor.class, Map.of("session.timeout.ms", 30_000))) {
            silent.subscribe(List.of("t"));
            pollUntil(List.of(silent), seen, () -> isShared(List.of(silent)));
            other.subscribe(List.of("t"));
            // when only the other one polls
            pollUntil(List.of(other), seen, () -> isShared(List.of(other)));
        }
    }

    @Test
    void shouldGoOnAtCommittedOffsetsWhenTheBrokerIsStartedAgain() throws Exception {
        produce(0, 60);
        List<Integer> seen = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> member = member("g", RangeAssignor.class, Map.of())) {
            member.subscribe(List.of("t"));
            pollUntil(List.of(member), seen, () -> seen.size() >= 60);
            member.commitSync(Map.of(
                    new TopicPartition("t", 0), new OffsetAndMetadata(4, "a note"),
                    new TopicPartition("t", 1), new OffsetAndMetadata(10)));
        }
        int port = broker.port();
        broker.stop();
        broker.with("listeners", "PLAINTEXT://127.0.0.1:" + port).start();

        try (Admin admin = broker.admin()) {
            Map<TopicPartition, OffsetAndMetadata> offsets = admin.listConsumerGroupOffsets("g")
                    .partitionsToOffsetAndMetadata()
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS);
            assertThat(offsets).containsOnlyKeys(new TopicPartition("t", 0), new TopicPartition("t", 1));
            assertThat(offsets.get(new TopicPartition("t", 0)).offset()).isEqualTo(4);
            assertThat(offsets.get(new TopicPartition("t", 0)).metadata()).isEqualTo("a note");
        }
        List<Integer> again = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> member = member("g", RangeAssignor.class, Map.of())) {
            member.subscribe(List.of("t"));
            // 10 records in each partition; 6 of partition 0 and none of partition 1 were not committed
            pollUntil(List.of(member), again, () -> again.size() >= 46);
            assertThat(again).hasSize(46).doesNotHaveDuplicates();
            assertThat(again.stream().filter(number -> number % PARTITIONS == 0))
                    .hasSize(6);
            assertThat(again.stream().filter(number -> number % PARTITIONS == 1))
                    .isEmpty();
        }
    }

    @Test
    void shouldLoseNothingAndKeepItsMembersWhenTheBrokerRestartsUnderIt() throws Exception {
        Set<Integer> seen = new TreeSet<>();
        try (KafkaConsumer<byte[], byte[]> first = member("g", CooperativeStickyAssignor.class, Map.of());
                KafkaConsumer<byte[], byte[]> second = member("g", CooperativeStickyAssignor.class, Map.of())) {
            List<KafkaConsumer<byte[], byte[]>> members = List.of(first, second);
            members.forEach(member -> member.subscribe(List.of("t")));
            pollUntil(members, seen, () -> isShared(members));
            produce(0, 30);
            pollUntil(members, seen, () -> seen.size() == 30);
            members.forEach(KafkaConsumer::commitSync);
            int port = broker.port();
            broker.stop();
            broker.with("listeners", "PLAINTEXT://127.0.0.1:" + port).start();
            produce(30, 60);
            pollUntil(members, seen, () -> seen.size() == 60 && isShared(members));
            members.forEach(KafkaConsumer::commitSync);
        }
    }

    @Test
    void shouldListDescribeAndDeleteGroups() throws Exception {
        produce(0, 12);
        List<Integer> seen = new ArrayList<>();
        try (Admin admin = broker.admin();
                KafkaConsumer<byte[], byte[]> member =
                        member("g", RangeAssignor.class, Map.of("group.instance.id", "fixed", "client.id", "me"))) {
            member.subscribe(List.of("t"));
            pollUntil(List.of(member), seen, () -> seen.size() == 12);
            member.commitSync();

            ConsumerGroupDescription described = describe(admin, "g");
            assertThat(described.groupState()).isEqualTo(GroupState.STABLE);
            assertThat(described.partitionAssignor()).isEqualTo("range");
            assertThat(described.members()).singleElement().satisfies(one -> {
                assertThat(one.groupInstanceId()).contains("fixed");
                assertThat(one.clientId()).isEqualTo("me");
                assertThat(one.assignment().topicPartitions()).hasSize(PARTITIONS);
            });
            assertThatThrownBy(
                            () -> admin.deleteConsumerGroups(List.of("g")).all().get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(GroupNotEmptyException.class);
            assertThat(groups(admin)).containsExactly("g");

            // when the member has left, and a client without a membership commits
            admin.removeMembersFromConsumerGroup(
                            "g", new org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions())
                    .all()
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS);
            var unused = admin.alterConsumerGroupOffsets(
                            "loner", Map.of(new TopicPartition("t", 3), new OffsetAndMetadata(1)))
                    .all()
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS);
            assertThat(groups(admin)).containsExactly("g", "loner");
            var unused2 = admin.deleteConsumerGroupOffsets("g", Set.of(new TopicPartition("t", 0)))
                    .all()
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS);
            assertThat(admin.listConsumerGroupOffsets("g")
                            .partitionsToOffsetAndMetadata()
                            .get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .hasSize(PARTITIONS - 1);

            // then both can be deleted
            var unused3 =
                    admin.deleteConsumerGroups(List.of("g", "loner")).all().get(LIMIT_SECONDS, TimeUnit.SECONDS);
            assertThat(groups(admin)).isEmpty();
            assertThatThrownBy(() -> describe(admin, "g")).hasCauseInstanceOf(GroupIdNotFoundException.class);
        }
    }

    private static ConsumerGroupDescription describe(Admin admin, String group) throws Exception {
        return admin.describeConsumerGroups(List.of(group))
                .describedGroups()
                .get(group)
                .get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    private static Set<String> groups(Admin admin) throws Exception {
        Map<String, GroupListing> byId = new TreeMap<>();
        admin.listGroups()
                .all()
                .get(LIMIT_SECONDS, TimeUnit.SECONDS)
                .forEach(group -> byId.put(group.groupId(), group));
        return byId.keySet();
    }

    @Test
    void shouldForgetOffsetsOfATopicThatIsDeleted() throws Exception {
        produce(0, 6);
        try (Admin admin = broker.admin()) {
            var unused = admin.alterConsumerGroupOffsets(
                            "g", Map.of(new TopicPartition("t", 3), new OffsetAndMetadata(1)))
                    .all()
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS);
            var unused2 = admin.deleteTopics(List.of("t")).all().get(LIMIT_SECONDS, TimeUnit.SECONDS);
            broker.createTopic("t", PARTITIONS, Map.of());

            broker.await(() -> {
                try {
                    return admin.listConsumerGroupOffsets("g")
                            .partitionsToOffsetAndMetadata()
                            .get(LIMIT_SECONDS, TimeUnit.SECONDS)
                            .isEmpty();
                } catch (Exception failure) {
                    throw new AssertionError(failure);
                }
            });
        }
    }

    @Test
    void shouldKeepItsOwnTopicToItself() throws Exception {
        try (Admin admin = broker.admin();
                KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            var unused = admin.alterConsumerGroupOffsets(
                            "g", Map.of(new TopicPartition("t", 3), new OffsetAndMetadata(0)))
                    .all()
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS);
            assertThat(admin.listTopics().names().get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .containsExactly("t");
            assertThatThrownBy(() -> producer.send(new ProducerRecord<>("__consumer_offsets", 0, null, new byte[1]))
                            .get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(InvalidTopicException.class);
        }
    }
}
