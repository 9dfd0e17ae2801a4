package io.journalq.server.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.Producer;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.error.InstanceIdInUseException;
import io.journalq.client.error.MembershipLostException;
import io.journalq.client.error.WakeupException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.RebalanceListener;
import io.journalq.client.group.TopicPattern;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.id.TopicPartition;
import io.journalq.server.broker.TestBroker;
import io.journalq.server.process.LoopbackPorts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Consumers of the client as members of groups, against the real broker. */
@Timeout(180)
final class GroupConsumerTest {
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final int PARTITIONS = 6;

    @TempDir
    Path directory;

    private TestBroker broker;
    private final List<Consumer> opened = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        int port = LoopbackPorts.next();
        broker = new TestBroker(directory)
                .with("listeners", "PLAINTEXT://127.0.0.1:" + port)
                .with("group.consumer.heartbeat.interval.ms", "100")
                .start();
        createTopic("orders");
    }

    @AfterEach
    void stop() {
        opened.forEach(Consumer::close);
        broker.close();
    }

    @Test
    void shouldShareAndHandOverPartitionsWhenMembersComeAndGo() throws Exception {
        // given one member that has everything
        Member first = join("orders");
        await(first, () -> first.owned.size() == PARTITIONS);
        // when two more come
        Member second = join("orders");
        Member third = join("orders");
        // then each has its share, and nothing is owned twice
        await(
                List.of(first, second, third),
                () -> first.owned.size() == 2 && second.owned.size() == 2 && third.owned.size() == 2);
        assertThat(union(first, second, third)).hasSize(PARTITIONS);
        // and when one leaves, its part goes to the others, who keep theirs
        Set<TopicPartition> kept = Set.copyOf(first.owned);
        second.consumer.close();
        await(List.of(first, third), () -> first.owned.size() == 3 && third.owned.size() == 3);
        assertThat(first.owned).containsAll(kept);
        assertThat(second.revoked).hasSize(2);
        assertThat(second.lost).isEmpty();
    }

    @Test
    void shouldRepeatExactlyTheUncommittedWhenAMemberDies() throws Exception {
        // given a member that read 60 records and committed 20 of them
        broker.stop();
        broker.with("group.consumer.session.timeout.ms", "5000").start();
        send(0, 60);
        Member dying = join("orders", builder("billing").autoCommit(false).groupInstanceId("till-1"));
        await(dying, () -> dying.values.size() == 60);
        dying.consumer.commit(Map.of(
                new TopicPartition("orders", 0), CommittedOffset.of(10, "ten"),
                new TopicPartition("orders", 1), CommittedOffset.of(10)));
        // when it falls silent: a member with a fixed name does not leave when it closes
        dying.consumer.close();
        Member heir = join("orders", builder("billing").autoCommit(false));
        await(heir, () -> heir.owned.size() == PARTITIONS && heir.values.size() >= 40);
        // then the rest comes again, and only that
        assertThat(heir.values).hasSize(40).doesNotHaveDuplicates();
        assertThat(heir.offsets(0)).isEmpty();
        assertThat(heir.consumer
                        .committed(List.of(new TopicPartition("orders", 0), new TopicPartition("orders", 5)))
                        .values())
                .extracting(CommittedOffset::metadata)
                .containsExactly("ten");
    }

    @Test
    void shouldRepeatNothingWhenEverythingWasCommittedOnTheWay() throws Exception {
        // given members that commit automatically: before they give partitions back, and when they close
        send(0, 60);
        Member first = join("orders", builder("billing").autoCommitInterval(Duration.ofHours(1)));
        await(first, () -> first.values.size() == 60);
        // when partitions move to another, more records come, and both close
        Member second = join("orders", builder("billing").autoCommitInterval(Duration.ofHours(1)));
        await(List.of(first, second), () -> first.owned.size() == 3 && second.owned.size() == 3);
        send(60, 120);
        await(List.of(first, second), () -> first.values.size() + second.values.size() == 120);
        first.consumer.close();
        second.consumer.close();
        // then a third finds only what came afterwards
        send(120, 126);
        Member third = join("orders");
        await(third, () -> third.values.size() >= 6);
        assertThat(third.values).allMatch(value -> Integer.parseInt(value) >= 120);
        assertThat(union(List.of(first.values, second.values, third.values))).hasSize(126);
    }

    @Test
    void shouldMixWithKafkasOwnMembersInOneGroup() throws Exception {
        Member ours = join("orders");
        await(ours, () -> ours.owned.size() == PARTITIONS);
        try (KafkaConsumer<byte[], byte[]> theirs = broker.consumer(
                Map.of("group.id", "billing", "group.protocol", "consumer", "enable.auto.commit", "true"))) {
            // when
            theirs.subscribe(List.of("orders"));
            await(ours, () -> {
                theirs.poll(SHORT);
                return ours.owned.size() == 3 && theirs.assignment().size() == 3;
            });
            send(0, 60);
            Set<String> read = new HashSet<>();
            await(ours, () -> {
                theirs.poll(SHORT).forEach(record -> read.add(new String(record.value(), UTF_8)));
                return read.size() + ours.values.size() == 60;
            });
            // then
            assertThat(union(List.of(read, ours.values))).hasSize(60);
            assertThat(read).hasSize(30);
        }
        await(ours, () -> ours.owned.size() == PARTITIONS);
    }

    @Test
    void shouldReadTopicsThatComeWhenSubscribedByPattern() throws Exception {
        Member member = new Member(builder("billing").build());
        member.consumer.subscribe(TopicPattern.of("order.*"), member);
        await(member, () -> member.owned.size() == PARTITIONS);
        // when
        createTopic("orders-of-today");
        createTopic("other");
        // then
        await(member, () -> member.owned.size() == 2 * PARTITIONS);
        assertThat(member.owned).extracting(TopicPartition::topic).containsOnly("orders", "orders-of-today");
        // and when the subscription is another
        member.consumer.subscribe(List.of("other"), member);
        await(member, () -> member.owned.size() == PARTITIONS);
        assertThat(member.owned).extracting(TopicPartition::topic).containsOnly("other");
    }

    @Test
    void shouldGoOnWhenTheBrokerRestarts() throws Exception {
        Member first = join("orders");
        Member second = join("orders");
        await(List.of(first, second), () -> first.owned.size() == 3 && second.owned.size() == 3);
        send(0, 30);
        await(List.of(first, second), () -> first.values.size() + second.values.size() == 30);
        first.consumer.commit();
        // when
        broker.stop();
        for (int i = 0; i < 10; i++) {
            first.poll();
            second.poll();
        }
        broker.start();
        send(30, 60);
        await(List.of(first, second), () -> first.values.size() + second.values.size() == 60);
        first.consumer.commit();
        // then nobody lost anything
        assertThat(first.lost).isEmpty();
        assertThat(second.lost).isEmpty();
        assertThat(union(List.of(first.values, second.values))).hasSize(60);
    }

    @Test
    void shouldLoseItsPartitionsAndJoinAgainWhenItDoesNotPoll() throws Exception {
        Member sleepy = join("orders", builder("billing").maxPollInterval(Duration.ofSeconds(1)));
        await(sleepy, () -> sleepy.owned.size() == PARTITIONS);
        // when it stays away until another has everything
        Member active = join("orders");
        await(active, () -> active.owned.size() == PARTITIONS);
        // then
        assertThatThrownBy(() -> sleepy.consumer.commit(Map.of(new TopicPartition("orders", 0), CommittedOffset.of(0))))
                .isInstanceOf(MembershipLostException.class)
                .hasMessageContaining("poll");
        await(List.of(sleepy, active), () -> sleepy.owned.size() == 3 && active.owned.size() == 3);
        assertThat(sleepy.lost).hasSizeGreaterThanOrEqualTo(PARTITIONS);
    }

    @Test
    void shouldKeepPartitionsOfAFixedNameWhenItsMemberComesBack() throws Exception {
        Member fixed = join("orders", builder("billing").groupInstanceId("till-1"));
        Member other = join("orders");
        await(List.of(fixed, other), () -> fixed.owned.size() == 3 && other.owned.size() == 3);
        Set<TopicPartition> before = Set.copyOf(fixed.owned);
        // The member that joined first gave up some partitions.
        other.revoked.clear();
        // when somebody takes the same name
        Member rival = join("orders", builder("billing").groupInstanceId("till-1"));
        assertThatThrownBy(() -> await(rival, () -> !rival.owned.isEmpty()))
                .isInstanceOf(InstanceIdInUseException.class)
                .hasMessageContaining("till-1");
        // and when the member restarts
        fixed.consumer.close();
        rival.consumer.subscribe(List.of("orders"), rival);
        await(List.of(rival, other), () -> rival.owned.size() == 3);
        // then
        assertThat(rival.owned).isEqualTo(before);
        assertThat(other.revoked).doesNotContainAnyElementsOf(before).isEmpty();
    }

    @Test
    void shouldStopReadingWhatIsPausedAndWakeUpWhenTold() throws Exception {
        Member member = join("orders");
        await(member, () -> member.owned.size() == PARTITIONS);
        TopicPartition first = new TopicPartition("orders", 0);
        member.consumer.pause(List.of(first));
        send(0, 60);
        await(member, () -> member.values.size() == 50);
        assertThat(member.consumer.paused()).containsExactly(first);
        assertThat(member.consumer.position(first)).isZero();
        member.consumer.resume(List.of(first));
        await(member, () -> member.values.size() == 60);
        // wakeup
        Thread waker = new Thread(member.consumer::wakeup, "waker");
        waker.start();
        assertThatThrownBy(() -> {
                    while (true) {
                        member.consumer.poll(Duration.ofSeconds(30));
                    }
                })
                .isInstanceOf(WakeupException.class);
        waker.join();
        assertThat(member.consumer.poll(Duration.ZERO).isEmpty()).isTrue();
    }

    @Test
    void shouldStartWhereTheAgeSaysWhenThereIsNoCommit() throws Exception {
        long nowMs = System.currentTimeMillis();
        try (Producer producer =
                Producer.builder().bootstrapServers(broker.bootstrap()).build()) {
            for (int minutes : List.of(600, 300, 2, 1)) {
                producer.send(ProducerRecord.builder("orders")
                        .partition(0)
                        .timestampMs(nowMs - TimeUnit.MINUTES.toMillis(minutes))
                        .value(Integer.toString(minutes).getBytes(UTF_8))
                        .build());
            }
        }
        Member member = join("orders", builder("billing").startAt(Consumer.Start.notOlderThan(Duration.ofHours(1))));
        await(member, () -> member.values.size() == 2);
        assertThat(member.values).containsExactly("2", "1");
    }

    @Test
    void shouldCommitForAGroupWithoutBeingAMember() throws Exception {
        send(0, 12);
        TopicPartition first = new TopicPartition("orders", 0);
        try (Consumer consumer = builder("billing").build()) {
            consumer.assign(List.of(first));
            consumer.seek(first, 1);
            consumer.commitAsync().get(30, TimeUnit.SECONDS);
            assertThat(consumer.committed(List.of(first))).isEqualTo(Map.of(first, CommittedOffset.of(1)));
            assertThatThrownBy(() -> consumer.subscribe(List.of("orders"))).isInstanceOf(IllegalStateException.class);
            consumer.seek(first, 2);
        }
        // closing commits the position
        try (Consumer consumer = builder("billing").build()) {
            consumer.assign(List.of(first));
            assertThat(consumer.position(first)).isEqualTo(2);
        }
    }

    private Consumer.Builder builder(String group) {
        return Consumer.builder()
                .bootstrapServers(broker.bootstrap())
                .groupId(group)
                .reconnectBackoff(Duration.ofMillis(10), Duration.ofMillis(100))
                .fetchMaxWait(Duration.ofMillis(100))
                .startAt(Consumer.Start.BEGINNING);
    }

    private Member join(String topic) {
        return join(topic, builder("billing"));
    }

    private Member join(String topic, Consumer.Builder builder) {
        Member member = new Member(builder.build());
        member.consumer.subscribe(List.of(topic), member);
        return member;
    }

    private void createTopic(String name) {
        try (Admin admin = Admin.builder().bootstrapServers(broker.bootstrap()).build()) {
            admin.createTopic(NewTopic.of(name, PARTITIONS));
        }
    }

    /** Numbers round the partitions. */
    private void send(int from, int to) {
        try (Producer producer =
                Producer.builder().bootstrapServers(broker.bootstrap()).build()) {
            for (int i = from; i < to; i++) {
                var unused = producer.sendAsync(ProducerRecord.of(
                        "orders", i % PARTITIONS, null, Integer.toString(i).getBytes(UTF_8)));
            }
            producer.flush();
        }
    }

    private static void await(Member member, BooleanSupplier condition) {
        await(List.of(member), condition);
    }

    private static void await(List<Member> members, BooleanSupplier condition) {
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("%s", members).isLessThan(endNanos);
            members.forEach(Member::poll);
        }
    }

    private static Set<TopicPartition> union(Member... members) {
        Set<TopicPartition> all = new HashSet<>();
        for (Member member : members) {
            assertThat(all).doesNotContainAnyElementsOf(member.owned);
            all.addAll(member.owned);
        }
        return all;
    }

    private static Set<String> union(List<Collection<String>> parts) {
        Set<String> all = new TreeSet<>();
        parts.forEach(all::addAll);
        return all;
    }

    /** A consumer and what it heard. */
    private final class Member implements RebalanceListener {
        private final Consumer consumer;
        private final Set<TopicPartition> owned = new HashSet<>();
        private final List<TopicPartition> revoked = new ArrayList<>();
        private final List<TopicPartition> lost = new ArrayList<>();
        private final List<String> values = new ArrayList<>();
        private final List<ConsumerRecord> records = new ArrayList<>();

        private Member(Consumer consumer) {
            this.consumer = consumer;
            opened.add(consumer);
        }

        private void poll() {
            for (ConsumerRecord record : consumer.poll(SHORT)) {
                assertThat(owned).contains(new TopicPartition(record.topic(), record.partition()));
                records.add(record);
                values.add(new String(record.value(), UTF_8));
            }
        }

        private List<Long> offsets(int partition) {
            return records.stream()
                    .filter(record -> record.partition() == partition)
                    .map(ConsumerRecord::offset)
                    .toList();
        }

        @Override
        public void onAssigned(Collection<TopicPartition> partitions) {
            assertThat(owned).doesNotContainAnyElementsOf(partitions);
            owned.addAll(partitions);
        }

        @Override
        public void onRevoked(Collection<TopicPartition> partitions) {
            assertThat(owned).containsAll(partitions);
            owned.removeAll(partitions);
            revoked.addAll(partitions);
        }

        @Override
        public void onLost(Collection<TopicPartition> partitions) {
            assertThat(owned).containsAll(partitions);
            owned.removeAll(partitions);
            lost.addAll(partitions);
        }

        @Override
        public String toString() {
            return owned + " with " + values.size() + " values";
        }
    }
}
