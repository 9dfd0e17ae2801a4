package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.process.LoopbackPorts;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups that change their protocol while real clients use them. */
class GroupMigrationTest {
    private static final int PARTITIONS = 6;
    private static final long LIMIT_SECONDS = 60;

    @TempDir
    private Path directory;

    private TestBroker broker;
    private Admin admin;
    private final List<KafkaConsumer<byte[], byte[]>> members = new ArrayList<>();
    /** How often each message was read. */
    private final Map<String, Integer> received = new HashMap<>();

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory)
                .with("group.initial.rebalance.delay.ms", "0")
                .with("group.consumer.heartbeat.interval.ms", "100")
                .start();
        admin = broker.admin();
        broker.createTopic("t", PARTITIONS, Map.of());
    }

    @AfterEach
    void stop() {
        members.forEach(member -> member.close(CloseOptions.timeout(Duration.ZERO)));
        admin.close();
        broker.close();
    }

    @ParameterizedTest
    @ValueSource(classes = {CooperativeStickyAssignor.class, RangeAssignor.class})
    void shouldMoveToTheNewProtocolAndBackMemberByMember(Class<?> assignor) throws Exception {
        KafkaConsumer<byte[], byte[]> first = join(classic(assignor));
        KafkaConsumer<byte[], byte[]> second = join(classic(assignor));
        pollUntil(this::allHaveTheirShare);
        int sent = send(0, 100);
        pollUntil(() -> received.size() == 100);
        assertThat(type()).isEqualTo(GroupType.CLASSIC);

        KafkaConsumer<byte[], byte[]> third = join(Map.of("group.protocol", "consumer"));
        pollUntil(this::allHaveTheirShare);
        assertThat(type()).isEqualTo(GroupType.CONSUMER);
        assertThat(describe().members())
                .hasSize(3)
                .filteredOn(member -> member.upgraded().equals(java.util.Optional.of(true)))
                .hasSize(1);
        sent = send(sent, 100);
        pollUntil(() -> received.size() == 200);

        leave(first);
        pollUntil(this::allHaveTheirShare);
        KafkaConsumer<byte[], byte[]> fourth = join(classic(assignor));
        pollUntil(this::allHaveTheirShare);
        sent = send(sent, 100);
        pollUntil(() -> received.size() == 300);

        leave(third);
        pollUntil(this::allHaveTheirShare);
        assertThat(type()).isEqualTo(GroupType.CLASSIC);
        sent = send(sent, 100);
        pollUntil(() -> received.size() == 400);
        assertThat(sent).isEqualTo(400);
        assertThat(second.assignment().size() + fourth.assignment().size()).isEqualTo(PARTITIONS);
        assertThat(received.values()).as("members commit before they revoke").allMatch(count -> count == 1);
    }

    @Test
    void shouldReplaceStaticMembersOneByOne() throws Exception {
        for (String name : List.of("a", "b")) {
            Map<String, Object> settings = new HashMap<>(classic(CooperativeStickyAssignor.class));
            settings.put("group.instance.id", name);
            join(settings);
        }
        pollUntil(() -> allArePlaced() && nobodyIsIdle());
        Map<String, Set<TopicPartition>> before = new HashMap<>();
        members.forEach(
                member -> before.put(member.groupMetadata().groupInstanceId().get(), member.assignment()));

        for (String name : List.of("a", "b")) {
            leave(members.get(0));
            join(Map.of("group.protocol", "consumer", "group.instance.id", name));
            pollUntil(this::allArePlaced);
        }

        assertThat(type()).isEqualTo(GroupType.CONSUMER);
        assertThat(describe().members()).hasSize(2).allMatch(member -> member.upgraded()
                .equals(java.util.Optional.of(true)));
        for (KafkaConsumer<byte[], byte[]> member : members) {
            assertThat(member.assignment())
                    .as("a returning static member gets its previous partitions")
                    .isEqualTo(
                            before.get(member.groupMetadata().groupInstanceId().get()));
        }
    }

    @Test
    void shouldKeepMixedMembersOverARestartOfTheBroker() throws Exception {
        broker.stop();
        broker.with("listeners", "PLAINTEXT://127.0.0.1:" + LoopbackPorts.next())
                .start();
        admin.close();
        admin = broker.admin();
        join(classic(CooperativeStickyAssignor.class));
        join(Map.of("group.protocol", "consumer"));
        pollUntil(() -> allArePlaced() && nobodyIsIdle());
        List<Set<TopicPartition>> before =
                members.stream().map(KafkaConsumer::assignment).toList();

        broker.stop();
        broker.start();

        send(0, 100);
        pollUntil(() -> received.size() == 100);
        assertThat(members.stream().map(KafkaConsumer::assignment).toList()).isEqualTo(before);
        assertThat(type()).isEqualTo(GroupType.CONSUMER);
    }

    private static Map<String, Object> classic(Class<?> assignor) {
        return Map.of(
                "group.protocol",
                "classic",
                "partition.assignment.strategy",
                assignor.getName(),
                "heartbeat.interval.ms",
                100);
    }

    private KafkaConsumer<byte[], byte[]> join(Map<String, Object> settings) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put("group.id", "g");
        all.put("enable.auto.commit", "true");
        all.put("auto.commit.interval.ms", 50);
        KafkaConsumer<byte[], byte[]> member = broker.consumer(all);
        member.subscribe(List.of("t"));
        members.add(member);
        return member;
    }

    private void leave(KafkaConsumer<byte[], byte[]> member) {
        members.remove(member);
        member.close();
    }

    private void pollUntil(BooleanSupplier condition) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadlineNanos) {
                throw new AssertionError("not within " + LIMIT_SECONDS + " s; received " + received.size()
                        + ", assigned "
                        + members.stream().map(KafkaConsumer::assignment).toList());
            }
            for (KafkaConsumer<byte[], byte[]> member : members) {
                for (ConsumerRecord<byte[], byte[]> record : member.poll(Duration.ofMillis(20))) {
                    received.merge(new String(record.value(), StandardCharsets.UTF_8), 1, Integer::sum);
                }
            }
        }
    }

    /**
     * Waits until no partition has to move any more. A cooperative member of Kafka's client continues to read during a
     * rebalance, and does not commit what it reads then. Messages that are sent earlier may therefore be read a second
     * time in partitions that the member still has to revoke.
     */
    private boolean allHaveTheirShare() {
        return allArePlaced()
                && members.stream().allMatch(member -> member.assignment().size() == PARTITIONS / members.size());
    }

    private boolean nobodyIsIdle() {
        return members.stream().noneMatch(member -> member.assignment().isEmpty());
    }

    private boolean allArePlaced() {
        Set<TopicPartition> placed = new HashSet<>();
        int count = 0;
        for (KafkaConsumer<byte[], byte[]> member : members) {
            placed.addAll(member.assignment());
            count += member.assignment().size();
        }
        return count == PARTITIONS && placed.size() == PARTITIONS;
    }

    private int send(int from, int count) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = from; i < from + count; i++) {
                byte[] value = Integer.toString(i).getBytes(StandardCharsets.UTF_8);
                var unused = producer.send(new ProducerRecord<>("t", i % PARTITIONS, null, value));
            }
        }
        return from + count;
    }

    private GroupType type() throws Exception {
        return describe().type();
    }

    private ConsumerGroupDescription describe() throws Exception {
        return admin.describeConsumerGroups(List.of("g"))
                .all()
                .get(LIMIT_SECONDS, TimeUnit.SECONDS)
                .get("g");
    }
}
