package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DeleteTopicsRequest;
import io.journalq.common.protocol.message.DeleteTopicsResponse;
import io.journalq.common.protocol.message.DeleteTopicsResponse.DeletableTopicResult;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients cannot delete, shorten or repartition the topics of groups and transactions. */
class InternalTopicsTest {
    private static final long SECONDS = 20;
    private static final String GROUPS = "__consumer_offsets";
    private static final String TRANSACTIONS = "__transaction_state";
    private static final TopicPartition ORDERS = new TopicPartition("orders", 0);

    @TempDir
    Path directory;

    private TestBroker broker;
    private Admin admin;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory).start();
        admin = broker.admin();
        broker.createTopic("orders", 1, Map.of());
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of("group.id", "billing"))) {
            consumer.assign(List.of(ORDERS));
            consumer.commitSync(Map.of(ORDERS, new OffsetAndMetadata(0)));
        }
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", "billing-1"))) {
            producer.initTransactions();
        }
    }

    @AfterEach
    void stop() {
        admin.close();
        broker.close();
    }

    @Test
    void shouldKeepInternalTopicsWhenAClientDeletesThemByName() throws Exception {
        for (String topic : List.of(GROUPS, TRANSACTIONS)) {
            assertRefused(admin.deleteTopics(List.of(topic)).all(), topic);
        }

        assertEverythingIsThere();
    }

    @Test
    void shouldKeepInternalTopicsWhenAClientDeletesThemById() throws Exception {
        for (String topic : List.of(GROUPS, TRANSACTIONS)) {
            Uuid id = get(admin.describeTopics(List.of(topic)).allTopicNames())
                    .get(topic)
                    .topicId();

            assertRefused(
                    admin.deleteTopics(TopicCollection.ofTopicIds(List.of(id))).all(), topic);
        }

        assertEverythingIsThere();
    }

    @Test
    void shouldDeleteTheOtherTopicsOfTheSameRequest() throws Exception {
        Map<String, KafkaFuture<Void>> results =
                admin.deleteTopics(List.of(GROUPS, "orders")).topicNameValues();

        assertRefused(results.get(GROUPS), GROUPS);
        get(results.get("orders"));
        assertThat(get(admin.listTopics(new ListTopicsOptions().listInternal(true))
                        .names()))
                .containsExactlyInAnyOrder(GROUPS, TRANSACTIONS);
    }

    @Test
    void shouldRefuseInEveryVersionOfDeleteTopics() throws Exception {
        for (int version = 1; version <= 6; version++) {
            DeleteTopicsRequest request = version < 6
                    ? new DeleteTopicsRequest().setTopicNames(List.of(GROUPS))
                    : new DeleteTopicsRequest()
                            .setTopics(List.of(new DeleteTopicsRequest.DeleteTopicState().setName(GROUPS)));
            try (WireClient client = new WireClient(broker.port())) {
                DeletableTopicResult result = client.call(
                                DeleteTopicsResponse.class, request.setTimeoutMs(1_000), version)
                        .responses()
                        .get(0);

                assertThat(result.errorCode()).isEqualTo(ErrorCode.INVALID_TOPIC_EXCEPTION.code());
            }
        }
        assertEverythingIsThere();
    }

    @Test
    void shouldRefuseToDeleteRecordsOfInternalTopicsAsKafkaDoes() {
        for (String topic : List.of(GROUPS, TRANSACTIONS)) {
            assertThatThrownBy(() -> get(
                            admin.deleteRecords(Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(0)))
                                    .all()))
                    .hasCauseInstanceOf(InvalidTopicException.class);
        }
    }

    @Test
    void shouldKeepTheNumberOfPartitionsByWhichGroupsAndTransactionsAreFound() throws Exception {
        for (String topic : List.of(GROUPS, TRANSACTIONS)) {
            assertRefused(
                    admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(50)))
                            .all(),
                    topic);
        }

        assertEverythingIsThere();
    }

    private void assertEverythingIsThere() throws Exception {
        assertThat(get(admin.listTopics(new ListTopicsOptions().listInternal(true))
                        .names()))
                .containsExactlyInAnyOrder("orders", GROUPS, TRANSACTIONS);
        assertThat(get(admin.listConsumerGroupOffsets("billing").partitionsToOffsetAndMetadata()))
                .containsOnlyKeys(ORDERS);
    }

    private static void assertRefused(KafkaFuture<?> future, String topic) {
        assertThatThrownBy(() -> get(future))
                .cause()
                .isInstanceOf(InvalidTopicException.class)
                .hasMessageContaining(topic);
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(SECONDS, TimeUnit.SECONDS);
    }
}
