package io.journalq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.BrokerErrorException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.UnknownTopicException;
import io.journalq.client.fake.FakeCluster;
import io.journalq.client.fake.Fault;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a client says about failures that it retries, over real sockets. */
@Timeout(60)
final class ClientLogTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final Duration SHORT = Duration.ofMillis(100);

    private final CapturedLog log = new CapturedLog();
    private FakeCluster cluster;

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(2).topic("orders", 2);
    }

    @AfterEach
    void stop() {
        cluster.close();
        log.close();
    }

    @Test
    void shouldSayThatNoBrokerCanBeReachedWhenAMemberPolls() throws Exception {
        String dead = deadAddress();
        try (Consumer consumer =
                member().bootstrapServers(dead).clientId("till-7").build()) {
            consumer.subscribe(List.of("orders"));
            // when
            pollUntil(consumer, () -> consumer.metrics().unreachableBrokers() > 3);
            // then one line says it, although there were several attempts
            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0))
                    .contains("[till-7]", "no broker of [" + dead + "] can be reached", "Connection refused");
            assertThat(log.origins()).containsExactly("io.journalq.client.Consumer WARNING");
            assertThat(consumer.metrics().lastError())
                    .isInstanceOf(JournalQException.class)
                    .hasMessageContaining(dead);
        }
    }

    @Test
    void shouldSayThatNoBrokerCanBeReachedWhenAProducerSends() throws Exception {
        try (Producer producer = Producer.builder()
                .bootstrapServers(deadAddress())
                .callTimeout(Duration.ofMillis(500))
                .build()) {
            assertThatThrownBy(() -> producer.send(ProducerRecord.of("orders", null)))
                    .isInstanceOf(JournalQException.class);
            assertThat(log.lines("no broker of")).hasSize(1);
            assertThat(log.origins()).containsExactly("io.journalq.client.Producer WARNING");
            assertThat(producer.metrics().unreachableBrokers()).isPositive();
            assertThat(producer.metrics().lastError()).isNotNull();
        }
    }

    @Test
    void shouldSayThatNoBrokerCanBeReachedWhenAllBrokersStop() {
        try (Consumer consumer =
                member().bootstrapServers(cluster.bootstrapServers()).build()) {
            consumer.subscribe(List.of("orders"));
            pollUntil(consumer, () -> !heartbeats().isEmpty());
            assertThat(log.lines()).isEmpty();
            // when
            cluster.close();
            // then
            pollUntil(consumer, () -> !log.lines("no broker of").isEmpty());
        }
    }

    @Test
    void shouldSayNothingWhenABrokerClosesAConnectionAndAcceptsTheNextOne() {
        try (Consumer consumer =
                member().bootstrapServers(cluster.bootstrapServers()).build()) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 0);
            pollUntil(consumer, () -> consumer.metrics().fetches() > 0);
            for (int i = 0; i < 3; i++) {
                long before = consumer.metrics().fetches();
                cluster.dropConnections();
                pollUntil(consumer, () -> consumer.metrics().fetches() > before);
            }
            assertThat(log.lines("no broker of")).isEmpty();
            assertThat(consumer.metrics().unreachableBrokers()).isZero();
        }
    }

    @Test
    void shouldNameATopicThatDoesNotExistWhenAMemberSubscribesToIt() {
        try (Consumer consumer =
                member().bootstrapServers(cluster.bootstrapServers()).build()) {
            consumer.subscribe(List.of("orders", "ordrs"));
            pollUntil(consumer, () -> consumer.metrics().unknownTopics() > 0);
            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0)).contains("topic ordrs does not exist");
            assertThat(consumer.metrics().lastError()).isInstanceOf(UnknownTopicException.class);
        }
    }

    @Test
    void shouldNameATopicThatDoesNotExistWhenAConsumerReadsIt() {
        TopicPartition misspelt = new TopicPartition("ordrs", 0);
        try (Consumer consumer = consumer().build()) {
            consumer.assign(List.of(misspelt));
            consumer.seek(misspelt, 0);
            // when: polls return nothing
            pollUntil(consumer, () -> consumer.metrics().unknownTopics() > 1);
            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0)).contains("topic ordrs does not exist");
        }
    }

    @Test
    void shouldNameAPartitionThatDoesNotExistWhenAConsumerReadsIt() {
        TopicPartition missing = new TopicPartition("orders", 9);
        try (Consumer consumer = consumer().build()) {
            consumer.assign(List.of(missing));
            consumer.seek(missing, 0);
            pollUntil(consumer, () -> consumer.metrics().unknownTopics() > 1);
            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0)).contains("topic orders has no partition 9; it has 2");
        }
    }

    @Test
    void shouldNameATopicThatDoesNotExistWhenAProducerSendsToIt() {
        try (Producer producer =
                Producer.builder().bootstrapServers(cluster.bootstrapServers()).build()) {
            assertThatThrownBy(() -> producer.send(ProducerRecord.of("ordrs", null)))
                    .isInstanceOf(UnknownTopicException.class);
            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0)).contains("topic ordrs does not exist");
            assertThat(producer.metrics().unknownTopics()).isEqualTo(1);
        }
    }

    @Test
    void shouldSayWhyAFetchFailedWhenTheConnectionBreaks() {
        cluster.faults(key -> key == ApiKey.FETCH ? Fault.DROP_BEFORE : Fault.NONE);
        try (Consumer consumer = consumer().build()) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 0);
            pollUntil(consumer, () -> consumer.metrics().failedFetches() > 3);
            assertThat(log.lines("a fetch from broker 0 failed")).hasSize(1);
            assertThat(consumer.metrics().lastError()).hasMessageContaining("closed the connection");
        }
    }

    @Test
    void shouldSayWhereItContinuesWhenRecordsWereLost() {
        try (Producer producer =
                Producer.builder().bootstrapServers(cluster.bootstrapServers()).build()) {
            producer.send(ProducerRecord.of("orders", 0, null, new byte[1]));
            producer.send(ProducerRecord.of("orders", 0, null, new byte[1]));
        }
        try (Consumer consumer = consumer().build()) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 0);
            pollUntil(consumer, () -> consumer.position(FIRST) == 2);
            // when
            cluster.loseFrom(FIRST, 1);
            pollUntil(consumer, () -> consumer.position(FIRST) == 1);
            // then
            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0)).contains("orders-0", "lost", "from offset 2 to 1");
        }
    }

    @Test
    void shouldSayNothingWhenALeaderMoves() {
        try (Consumer consumer = consumer().build()) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 0);
            pollUntil(consumer, () -> consumer.metrics().fetches() > 0);
            // when
            cluster.moveLeader(FIRST, 1 - cluster.leader(FIRST));
            pollUntil(consumer, () -> consumer.metrics().failedFetches() > 0);
            long before = consumer.metrics().fetches();
            pollUntil(consumer, () -> consumer.metrics().fetches() > before + 1);
            // then
            assertThat(log.lines()).isEmpty();
            assertThat(consumer.metrics().lastError()).isNull();
        }
    }

    @Test
    void shouldSayWhyFetchesFailWhenAMoveOfTheLeaderLasts() {
        cluster.faults(key -> key == ApiKey.FETCH ? Fault.NOT_LEADER : Fault.NONE);
        try (Consumer consumer = consumer().build()) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 0);
            // when
            pollUntil(consumer, () -> !log.lines().isEmpty());
            // then
            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0)).contains("a fetch from topic orders failed", "orders-0");
            assertThat(consumer.metrics().lastError().errorCode()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        }
    }

    @Test
    void shouldSayNothingWhenTheCoordinatorMovesAndTheGroupRebalances() {
        cluster.coordinator().assign(List.of(FIRST));
        try (Consumer consumer =
                member().bootstrapServers(cluster.bootstrapServers()).build()) {
            consumer.subscribe(List.of("orders"));
            pollUntil(consumer, () -> consumer.assignment().size() == 1);
            // when
            cluster.coordinator().moveTo(1);
            pollUntil(consumer, () -> consumer.metrics().lostCoordinators() > 0);
            cluster.coordinator().assign(List.of(FIRST, new TopicPartition("orders", 1)));
            pollUntil(consumer, () -> consumer.assignment().size() == 2);
            // then
            assertThat(log.lines()).isEmpty();
            assertThat(consumer.metrics().lastError()).isNull();
        }
    }

    @Test
    void shouldNameTheGroupWhenTheConnectionToItsCoordinatorBreaks() {
        cluster.faults(key -> key == ApiKey.CONSUMER_GROUP_HEARTBEAT ? Fault.DROP_BEFORE : Fault.NONE);
        try (Consumer consumer =
                member().bootstrapServers(cluster.bootstrapServers()).build()) {
            consumer.subscribe(List.of("orders"));
            pollUntil(consumer, () -> consumer.metrics().lostCoordinators() > 1);
            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0)).contains("the coordinator of group billing is lost");
        }
    }

    @Test
    void shouldSayThatAuthorizationWasRefusedWhenATopicMayNotBeRead() {
        cluster.refuse("orders", ErrorCode.TOPIC_AUTHORIZATION_FAILED);
        try (Consumer consumer = consumer().build()) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 0);
            pollUntil(consumer, () -> consumer.metrics().authorizationFailures() > 1);
            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0)).contains("authorization was refused", "topic orders");
            assertThat(consumer.metrics().lastError())
                    .isInstanceOf(BrokerErrorException.class)
                    .extracting(JournalQException::errorCode)
                    .isEqualTo(ErrorCode.TOPIC_AUTHORIZATION_FAILED);
        }
    }

    @Test
    void shouldSayThatAuthorizationWasRefusedWhenACommitThatNobodyWaitsForFails() {
        cluster.coordinator().refuse(ApiKey.OFFSET_COMMIT, ErrorCode.GROUP_AUTHORIZATION_FAILED);
        try (Consumer consumer =
                member().bootstrapServers(cluster.bootstrapServers()).build()) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 0);
            var unused = consumer.commitAsync();
            pollUntil(consumer, () -> consumer.metrics().authorizationFailures() > 0);
            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0)).contains("authorization was refused", "group billing");
        }
    }

    private List<?> heartbeats() {
        return cluster.coordinator().asked();
    }

    private static String deadAddress() throws Exception {
        try (ServerSocket socket = new ServerSocket(0)) {
            return "localhost:" + socket.getLocalPort();
        }
    }

    private static void pollUntil(Consumer consumer, BooleanSupplier condition) {
        long endNanos = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime())
                    .as("a condition did not come true in time")
                    .isLessThan(endNanos);
            consumer.poll(SHORT);
        }
    }

    private Consumer.Builder consumer() {
        return Consumer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .fetchMaxWait(SHORT)
                .retryBackoff(Duration.ofMillis(5), Duration.ofMillis(50));
    }

    private static Consumer.Builder member() {
        return Consumer.builder()
                .groupId("billing")
                .autoCommit(false)
                .reconnectBackoff(Duration.ofMillis(5), Duration.ofMillis(50))
                .retryBackoff(Duration.ofMillis(5), Duration.ofMillis(50));
    }
}
