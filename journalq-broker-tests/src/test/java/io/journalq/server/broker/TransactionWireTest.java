package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.common.protocol.message.ListTransactionsRequest;
import io.journalq.common.protocol.message.ListTransactionsResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Single requests of transactions, in both generations, and the errors for invalid ones. */
class TransactionWireTest {
    @TempDir
    Path dataDirectory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("shards", "2")
                .with("transaction.state.log.num.partitions", "3")
                .with("offsets.topic.num.partitions", "2")
                .start();
        broker.createTopic("t", 2, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private TransactionClient producer(String id, boolean second) throws Exception {
        TransactionClient client = new TransactionClient(broker.port(), id, second);
        client.findCoordinators("g");
        assertThat(client.init()).isEqualTo(ErrorCode.NONE);
        return client;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCompleteTransactionsOneAfterTheOther(boolean second) throws Exception {
        try (TransactionClient producer = producer("a", second)) {
            short firstEpoch = producer.epoch;
            for (int i = 0; i < 5; i++) {
                if (!second) {
                    assertThat(producer.addPartition("t", i % 2)).isEqualTo(ErrorCode.NONE);
                    assertThat(producer.addOffsets("g")).isEqualTo(ErrorCode.NONE);
                }
                assertThat(producer.produce("t", i % 2, "v" + i)).isEqualTo(ErrorCode.NONE);
                assertThat(producer.commitOffset("g", "t", 0, i)).isEqualTo(ErrorCode.NONE);
                assertThat(producer.end(i % 3 != 0)).isEqualTo(ErrorCode.NONE);
            }
            producer.awaitIdle();

            assertThat(producer.describe().transactionState()).isEqualTo("CompleteCommit");
            assertThat(producer.epoch).isEqualTo(second ? (short) (firstEpoch + 5) : firstEpoch);
            assertThat(broker.readAll(List.of(new org.apache.kafka.common.TopicPartition("t", 0)), 3))
                    .hasSize(3);
        }
    }

    @Test
    void shouldRefuseRecordsForAPartitionThatDoesNotTakePart() throws Exception {
        try (TransactionClient producer = producer("a", false)) {
            // given
            assertThat(producer.addPartition("t", 0)).isEqualTo(ErrorCode.NONE);

            // then
            assertThat(producer.produce("t", 1, "v", 10)).isEqualTo(ErrorCode.INVALID_TXN_STATE);
            assertThat(producer.produce("t", 1, "v", 11)).isEqualTo(ErrorCode.TRANSACTION_ABORTABLE);
            assertThat(producer.commitOffset("g", "t", 0, 1, 3)).isEqualTo(ErrorCode.INVALID_TXN_STATE);
            assertThat(producer.commitOffset("g", "t", 0, 1, 4)).isEqualTo(ErrorCode.TRANSACTION_ABORTABLE);
            assertThat(producer.produce("t", 0, "v", 11)).isEqualTo(ErrorCode.NONE);
        }
    }

    @Test
    void shouldRefuseRecordsOfATransactionWhenTheRequestNamesNone() throws Exception {
        try (TransactionClient producer = producer("a", true)) {
            assertThat(producer.wire
                            .produce("t", 0, TransactionClient.batch("v", producer.producerId, producer.epoch, 0))
                            .errorCode())
                    .isEqualTo(ErrorCode.INVALID_TXN_STATE.code());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFenceAnInstanceWhenAnotherTakesItsIdOver(boolean second) throws Exception {
        try (TransactionClient old = producer("a", second)) {
            // given
            assertThat(old.addPartition("t", 0)).isEqualTo(ErrorCode.NONE);
            assertThat(old.produce("t", 0, "old")).isEqualTo(ErrorCode.NONE);

            // when
            try (TransactionClient young = producer("a", second)) {
                // then
                assertThat(young.producerId).isEqualTo(old.producerId);
                assertThat(young.epoch).isGreaterThan(old.epoch);
                assertThat(old.produce("t", 0, "late")).isEqualTo(ErrorCode.INVALID_PRODUCER_EPOCH);
                assertThat(old.commitOffset("g", "t", 0, 1)).isEqualTo(ErrorCode.INVALID_PRODUCER_EPOCH);
                assertThat(old.addPartition("t", 1)).isEqualTo(ErrorCode.PRODUCER_FENCED);
                assertThat(old.end(true)).isEqualTo(ErrorCode.PRODUCER_FENCED);
                EndTxnRequest request = new EndTxnRequest()
                        .setTransactionalId("a")
                        .setProducerId(old.producerId)
                        .setProducerEpoch(old.epoch);
                assertThat(old.wire.call(EndTxnResponse.class, request, 1).errorCode())
                        .isEqualTo(ErrorCode.INVALID_PRODUCER_EPOCH.code());
            }
        }
    }

    @Test
    void shouldAbortATransactionAfterItsTimeout() throws Exception {
        try (TransactionClient producer = producer("a", true)) {
            // given
            producer.init(1);
            assertThat(producer.produce("t", 0, "v")).isEqualTo(ErrorCode.NONE);

            // when
            producer.awaitIdle();

            // then
            assertThat(producer.describe().transactionState()).isEqualTo("CompleteAbort");
            assertThat(producer.end(true)).isEqualTo(ErrorCode.INVALID_TXN_STATE);
            assertThat(producer.init()).isEqualTo(ErrorCode.NONE);
            assertThat(producer.produce("t", 0, "v")).isEqualTo(ErrorCode.NONE);
            assertThat(producer.end(true)).isEqualTo(ErrorCode.NONE);
        }
    }

    @Test
    void shouldForgetAnIdThatNobodyUses() throws Exception {
        broker.stop();
        broker.with("transactional.id.expiration.ms", "1").start();
        try (TransactionClient producer = producer("a", true)) {
            // when
            broker.awaitQuietly(() -> isForgotten(producer));

            // then
            long before = producer.producerId;
            assertThat(producer.produce("t", 0, "v")).isEqualTo(ErrorCode.INVALID_PRODUCER_ID_MAPPING);
            assertThat(producer.init()).isEqualTo(ErrorCode.NONE);
            assertThat(producer.producerId).isGreaterThan(before);
        }
    }

    private static boolean isForgotten(TransactionClient producer) {
        try {
            return producer.describe().errorCode() == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND.code();
        } catch (java.io.IOException failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void shouldAddAllPartitionsOrNone() throws Exception {
        try (TransactionClient producer = producer("a", false)) {
            AddPartitionsToTxnRequest request = new AddPartitionsToTxnRequest()
                    .setV3AndBelowTransactionalId("a")
                    .setV3AndBelowProducerId(producer.producerId)
                    .setV3AndBelowProducerEpoch(producer.epoch)
                    .setV3AndBelowTopics(List.of(topic("t", 0, 7), topic("none", 0), topic("__transaction_state", 0)));

            AddPartitionsToTxnResponse response = producer.wire.call(AddPartitionsToTxnResponse.class, request, 3);

            assertThat(response.resultsByTopicV3AndBelow().stream()
                            .flatMap(topic -> topic.resultsByPartition().stream())
                            .map(partition -> ErrorCode.of(partition.partitionErrorCode())))
                    .containsExactly(
                            ErrorCode.OPERATION_NOT_ATTEMPTED,
                            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                            ErrorCode.TOPIC_AUTHORIZATION_FAILED);
            assertThat(producer.describe().transactionState()).isEqualTo("Empty");
        }
    }

    private static AddPartitionsToTxnRequest.AddPartitionsToTxnTopic topic(String name, Integer... partitions) {
        return new AddPartitionsToTxnRequest.AddPartitionsToTxnTopic()
                .setName(name)
                .setPartitions(List.of(partitions));
    }

    @Test
    void shouldVerifyOrAddForSeveralTransactionsInOneRequest() throws Exception {
        try (TransactionClient a = producer("a", true);
                TransactionClient b = producer("b", true)) {
            AddPartitionsToTxnRequest request = new AddPartitionsToTxnRequest()
                    .setTransactions(List.of(transaction(a, true), transaction(b, false)));

            for (int version = 4; version <= 5; version++) {
                AddPartitionsToTxnResponse response = a.wire.call(AddPartitionsToTxnResponse.class, request, version);
                assertThat(response.resultsByTransaction().stream()
                                .flatMap(transaction -> transaction.topicResults().stream())
                                .flatMap(topic -> topic.resultsByPartition().stream())
                                .map(partition -> ErrorCode.of(partition.partitionErrorCode())))
                        .containsExactly(
                                version == 4 ? ErrorCode.INVALID_TXN_STATE : ErrorCode.TRANSACTION_ABORTABLE,
                                ErrorCode.NONE);
            }
            assertThat(b.describe().transactionState()).isEqualTo("Ongoing");
        }
    }

    private static AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction transaction(
            TransactionClient producer, boolean verifyOnly) {
        return new AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction()
                .setTransactionalId(producer.id)
                .setProducerId(producer.producerId)
                .setProducerEpoch(producer.epoch)
                .setVerifyOnly(verifyOnly)
                .setTopics(List.of(topic("t", 0)));
    }

    @Test
    void shouldListTransactionsByStatePatternAndAge() throws Exception {
        try (TransactionClient open = producer("open", true);
                TransactionClient idle = producer("idle", true)) {
            open.produce("t", 0, "v");

            assertThat(list(idle, new ListTransactionsRequest(), 0)).containsExactlyInAnyOrder("open", "idle");
            assertThat(list(idle, new ListTransactionsRequest().setStateFilters(List.of("Ongoing")), 1))
                    .containsExactly("open");
            assertThat(list(idle, new ListTransactionsRequest().setTransactionalIdPattern("id.*"), 2))
                    .containsExactly("idle");
            assertThat(list(idle, new ListTransactionsRequest().setDurationFilter(100_000_000), 2))
                    .isEmpty();
            assertThat(idle.wire
                            .call(
                                    ListTransactionsResponse.class,
                                    new ListTransactionsRequest().setTransactionalIdPattern("("),
                                    2)
                            .errorCode())
                    .isEqualTo(ErrorCode.INVALID_REGULAR_EXPRESSION.code());
            assertThat(idle.wire
                            .call(
                                    ListTransactionsResponse.class,
                                    new ListTransactionsRequest().setStateFilters(List.of("Nowhere")),
                                    0)
                            .unknownStateFilters())
                    .containsExactly("Nowhere");
        }
    }

    private static List<String> list(TransactionClient client, ListTransactionsRequest request, int version)
            throws Exception {
        return client.wire.call(ListTransactionsResponse.class, request, version).transactionStates().stream()
                .map(ListTransactionsResponse.TransactionState::transactionalId)
                .toList();
    }

    @Test
    void shouldFinishADecidedTransactionWhoseTopicIsDeleted() throws Exception {
        broker.createTopic("gone", 1, Map.of());
        try (TransactionClient producer = producer("a", true)) {
            // given
            assertThat(producer.produce("gone", 0, "v")).isEqualTo(ErrorCode.NONE);
            assertThat(producer.produce("t", 0, "v")).isEqualTo(ErrorCode.NONE);
            try (var admin = broker.admin()) {
                admin.deleteTopics(List.of("gone")).all().get();
            }

            // when
            assertThat(producer.end(true)).isEqualTo(ErrorCode.NONE);

            // then
            producer.awaitIdle();
            assertThat(producer.describe().transactionState()).isEqualTo("CompleteCommit");
        }
    }
}
