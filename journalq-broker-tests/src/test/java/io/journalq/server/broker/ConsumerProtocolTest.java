package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.FeatureMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Groups of the consumer protocol (KIP-848), with Kafka's own consumers and administrator. */
class ConsumerProtocolTest {
    private static final int PARTITIONS = 6;
    private static final long LIMIT_SECONDS = 60;
    private static final Duration POLL = Duration.ofMillis(50);

    @TempDir
    Path dataDirectory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("shards", "2")
                .with("group.initial.rebalance.delay.ms", "0")
                .with("group.consumer.heartbeat.interval.ms", "100")
                .start();
        broker.createTopic("orders-1", PARTITIONS, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private KafkaConsumer<byte[], byte[]> member(Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put("group.id", "g");
        settings.putIfAbsent("group.protocol", "consumer");
        settings.put("metadata.max.age.ms", 500);
        return broker.consumer(settings);
    }

    private void produce(int from, int to) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = from; i < to; i++) {
                byte[] value = Integer.toString(i).getBytes(StandardCharsets.UTF_8);
                var unused = producer.send(new ProducerRecord<>("orders-1", i % PARTITIONS, null, value))
                        .get(LIMIT_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void pollUntil(List<KafkaConsumer<byte[], byte[]>> members, List<Integer> seen, Condition condition)
            throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as("time left").isLessThan(deadlineNanos);
            for (KafkaConsumer<byte[], byte[]> member : members) {
                for (ConsumerRecord<byte[], byte[]> record : member.poll(POLL)) {
                    seen.add(Integer.parseInt(new String(record.value(), StandardCharsets.UTF_8)));
                }
            }
        }
    }

    private static boolean isShared(List<KafkaConsumer<byte[], byte[]>> members, int partitions) {
        List<TopicPartition> assigned = new ArrayList<>();
        members.forEach(member -> assigned.addAll(member.assignment()));
        return members.stream().noneMatch(member -> member.assignment().isEmpty())
                && assigned.size() == partitions
                && Set.copyOf(assigned).size() == partitions;
    }

    @Test
    void shouldShareGoOnAfterARestartAndTellAdministratorsWhenMembersCome() throws Exception {
        produce(0, 60);
        List<Integer> seen = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> first = member(Map.of());
                KafkaConsumer<byte[], byte[]> second = member(Map.of("group.remote.assignor", "range"))) {
            // when members join one after the other
            first.subscribe(List.of("orders-1"));
            pollUntil(List.of(first), seen, () -> seen.size() == 60);
            first.commitSync();
            second.subscribe(List.of("orders-1"));
            List<KafkaConsumer<byte[], byte[]>> both = List.of(first, second);
            pollUntil(both, seen, () -> isShared(both, PARTITIONS));

            // then no record was read twice, and the group can be described
            assertThat(seen).hasSize(60);
            ConsumerGroupDescription group = describe();
            assertThat(group.type()).isEqualTo(GroupType.CONSUMER);
            assertThat(group.members()).hasSize(2).allSatisfy(member -> assertThat(
                            member.assignment().topicPartitions())
                    .hasSize(PARTITIONS / 2));

            // when the broker restarts in the meantime
            int port = broker.port();
            broker.stop();
            broker.with("listeners", "PLAINTEXT://127.0.0.1:" + port).start();
            produce(60, 90);
            pollUntil(both, seen, () -> seen.size() >= 90);
            pollUntil(both, seen, () -> isShared(both, PARTITIONS));
            first.commitSync();
            second.commitSync();
        }

        // then every record was read once
        assertThat(new TreeSet<>(seen)).hasSize(90);
        assertThat(seen).hasSize(90);
        assertThat(describe().groupState()).isEqualTo(GroupState.EMPTY);
    }

    private ConsumerGroupDescription describe() throws Exception {
        try (Admin admin = broker.admin()) {
            return admin.describeConsumerGroups(List.of("g"))
                    .all()
                    .get(LIMIT_SECONDS, TimeUnit.SECONDS)
                    .get("g");
        }
    }

    @Test
    void shouldFollowTopicsWhenThePatternMatchesNewOnes() throws Exception {
        List<Integer> seen = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> member = member(Map.of())) {
            member.subscribe(new SubscriptionPattern("orders-[0-9]+"));
            pollUntil(List.of(member), seen, () -> member.assignment().size() == PARTITIONS);

            // when
            broker.createTopic("orders-22", 2, Map.of());
            broker.createTopic("orders-x", 2, Map.of());

            // then
            pollUntil(List.of(member), seen, () -> member.assignment().size() == PARTITIONS + 2);
            assertThat(member.assignment())
                    .noneMatch(partition -> partition.topic().equals("orders-x"));
        }
    }

    @Test
    void shouldKeepPartitionsWhenAStaticMemberComesBack() throws Exception {
        List<Integer> seen = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> stays = member(Map.of("group.instance.id", "a"))) {
            stays.subscribe(List.of("orders-1"));
            Set<TopicPartition> before;
            try (KafkaConsumer<byte[], byte[]> leaves = member(Map.of("group.instance.id", "b"))) {
                leaves.subscribe(List.of("orders-1"));
                List<KafkaConsumer<byte[], byte[]>> both = List.of(stays, leaves);
                pollUntil(both, seen, () -> isShared(both, PARTITIONS));
                before = leaves.assignment();
            }
            Set<TopicPartition> kept = stays.assignment();

            // when
            try (KafkaConsumer<byte[], byte[]> back = member(Map.of("group.instance.id", "b"))) {
                back.subscribe(List.of("orders-1"));
                pollUntil(List.of(stays, back), seen, () -> !back.assignment().isEmpty());

                // then
                assertThat(back.assignment()).isEqualTo(before);
                assertThat(stays.assignment()).isEqualTo(kept);
            }
        }
    }

    @Test
    void shouldChangeProtocolWhenAGroupIsEmpty() throws Exception {
        List<Integer> seen = new ArrayList<>();
        produce(0, 6);
        for (String protocol : List.of("classic", "consumer", "classic")) {
            try (KafkaConsumer<byte[], byte[]> member = member(Map.of("group.protocol", protocol))) {
                member.subscribe(List.of("orders-1"));
                pollUntil(List.of(member), seen, () -> member.assignment().size() == PARTITIONS && seen.size() >= 6);
                member.commitSync();
                assertThat(describe().type().toString()).isEqualToIgnoringCase(protocol);
            }
        }
        assertThat(seen).hasSize(6);
    }

    @Test
    void shouldTellThatTheConsumerProtocolIsOnWhenClientsAskForFeatures() throws Exception {
        try (Admin admin = broker.admin()) {
            FeatureMetadata features =
                    admin.describeFeatures().featureMetadata().get(LIMIT_SECONDS, TimeUnit.SECONDS);

            assertThat(features.finalizedFeatures().get("group.version").maxVersionLevel())
                    .isEqualTo((short) 1);
        }
    }
}
