package io.journalq.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.ProducerReplacedException;
import io.journalq.client.error.TransactionAbortedException;
import io.journalq.client.error.TransactionUnknownException;
import io.journalq.client.fake.FakeCluster;
import io.journalq.client.fake.FakeCoordinator;
import io.journalq.client.fake.Fault;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.TxnOffsetCommitRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a transactional producer asks its coordinator, in both generations of the protocol, and what it does on refusals. */
@Timeout(60)
final class TransactionTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final TopicPartition SECOND = new TopicPartition("orders", 1);

    private FakeCluster cluster;
    private FakeCoordinator coordinator;

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(2).topic("orders", 2);
        coordinator = cluster.coordinator();
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    @Test
    void shouldTellPartitionsBeforeItWritesInTheFirstGeneration() {
        try (Producer producer = producer().build()) {
            for (int i = 0; i < 2; i++) {
                producer.inTransaction(transaction -> {
                    transaction.send(record(0));
                    transaction.send(record(1));
                    transaction.send(record(0));
                    transaction.commitOffsets(
                            new GroupMember("billing", "me", 4, null), Map.of(FIRST, CommittedOffset.of(9)));
                });
            }
        }
        // then
        assertThat(coordinator.asked())
                .extracting(FakeCoordinator.Asked::key)
                .containsExactly(
                        ApiKey.INIT_PRODUCER_ID,
                        ApiKey.ADD_PARTITIONS_TO_TXN,
                        ApiKey.ADD_PARTITIONS_TO_TXN,
                        ApiKey.ADD_OFFSETS_TO_TXN,
                        ApiKey.TXN_OFFSET_COMMIT,
                        ApiKey.END_TXN,
                        ApiKey.ADD_PARTITIONS_TO_TXN,
                        ApiKey.ADD_PARTITIONS_TO_TXN,
                        ApiKey.ADD_OFFSETS_TO_TXN,
                        ApiKey.TXN_OFFSET_COMMIT,
                        ApiKey.END_TXN);
        assertThat(coordinator.asked())
                .filteredOn(asked -> asked.key() == ApiKey.END_TXN || asked.key() == ApiKey.TXN_OFFSET_COMMIT)
                .isNotEmpty()
                .allMatch(asked -> asked.version() == 4);
        assertThat(coordinator.asked(ApiKey.TXN_OFFSET_COMMIT, TxnOffsetCommitRequest.class))
                .isNotEmpty()
                .allMatch(request -> request.memberId().equals("me") && request.generationId() == 4);
        // the epoch stays, and so the numbers go on
        assertThat(cluster.numbers(FIRST)).containsExactly("0:0T", "0:1T", "0:2T", "0:3T");
        assertThat(cluster.transactionalIds()).containsOnly("copier");
    }

    @Test
    void shouldMoveToTheNextEpochWithEveryEndInTheSecondGeneration() {
        cluster.transactionVersion(2);
        try (Producer producer = producer().build()) {
            for (int i = 0; i < 2; i++) {
                producer.inTransaction(transaction -> {
                    transaction.send(record(0));
                    var unused = transaction.sendBatch("orders", 0, List.of(record(0), record(0)));
                    transaction.commitOffsets("billing", Map.of(FIRST, CommittedOffset.of(9)));
                });
            }
            assertThatThrownBy(() -> producer.inTransaction(transaction -> {
                        transaction.send(record(0));
                        throw new IllegalArgumentException("no");
                    }))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        // then
        assertThat(coordinator.asked())
                .extracting(FakeCoordinator.Asked::key)
                .containsExactly(
                        ApiKey.INIT_PRODUCER_ID,
                        ApiKey.TXN_OFFSET_COMMIT,
                        ApiKey.END_TXN,
                        ApiKey.TXN_OFFSET_COMMIT,
                        ApiKey.END_TXN,
                        ApiKey.END_TXN);
        assertThat(cluster.numbers(FIRST)).containsExactly("0:0T", "0:1T", "1:0T", "1:1T", "2:0T");
        assertThat(ends()).extracting(EndTxnRequest::committed).containsExactly(true, true, false);
        assertThat(ends()).extracting(EndTxnRequest::producerEpoch).containsExactly((short) 0, (short) 1, (short) 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldTryAgainWhatMaySucceedLater(int transactionVersion) {
        cluster.transactionVersion(transactionVersion);
        ErrorCode busy = ErrorCode.CONCURRENT_TRANSACTIONS;
        ErrorCode loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS;
        for (ApiKey key : List.of(
                ApiKey.INIT_PRODUCER_ID,
                ApiKey.ADD_PARTITIONS_TO_TXN,
                ApiKey.ADD_OFFSETS_TO_TXN,
                ApiKey.TXN_OFFSET_COMMIT,
                ApiKey.END_TXN)) {
            coordinator.refuse(key, loading, busy, ErrorCode.COORDINATOR_NOT_AVAILABLE);
        }
        try (Producer producer = producer().build()) {
            producer.inTransaction(transaction -> {
                transaction.send(record(0));
                coordinator.moveTo(1);
                transaction.commitOffsets("billing", Map.of(FIRST, CommittedOffset.of(9)));
            });
        }
        assertThat(cluster.values(FIRST)).hasSize(1);
        assertThat(ends()).isNotEmpty().allMatch(EndTxnRequest::committed);
    }

    @Test
    void shouldBeginUnderAnotherEpochAfterAnAbortInTheFirstGeneration() {
        try (Producer producer = producer().build()) {
            assertThatThrownBy(() -> producer.inTransaction(transaction -> {
                        transaction.send(record(0));
                        throw new IllegalArgumentException("no");
                    }))
                    .isInstanceOf(IllegalArgumentException.class);
            producer.inTransaction(transaction -> transaction.send(record(0)));
        }
        assertThat(cluster.numbers(FIRST)).containsExactly("0:0T", "1:0T");
        assertThat(coordinator.asked(ApiKey.INIT_PRODUCER_ID, InitProducerIdRequest.class))
                .extracting(InitProducerIdRequest::producerEpoch)
                .containsExactly((short) -1, (short) 0);
    }

    @Test
    void shouldAbortWhenARecordFailsThatNobodyWaitsFor() {
        try (Producer producer = producer().build()) {
            producer.inTransaction(transaction -> transaction.send(record(1)));
            // when
            cluster.outdate(SECOND);
            assertThatThrownBy(() -> producer.inTransaction(transaction -> {
                        var unused = transaction.sendAsync(record(1));
                        var ignored = transaction.sendAsync(record(0));
                    }))
                    // then
                    .isInstanceOf(TransactionAbortedException.class)
                    .hasMessageContaining("run it again");
            producer.inTransaction(transaction -> transaction.send(record(1)));
        }
        assertThat(ends()).extracting(EndTxnRequest::committed).containsExactly(true, false, true);
        assertThat(cluster.numbers(SECOND)).containsExactly("0:0T", "1:0T");
    }

    @Test
    void shouldCommitWhenTimeoutsAreTheLongest() {
        Duration longest = Duration.ofMillis(Integer.MAX_VALUE);
        try (Producer producer = producer()
                .deliveryTimeout(longest)
                .requestTimeout(longest)
                .callTimeout(longest)
                .build()) {
            producer.inTransaction(transaction -> transaction.send(record(0)));
        }
        assertThat(cluster.values(FIRST)).hasSize(1);
    }

    @Test
    void shouldReportAnUnknownOutcomeWhenACommitGetsNoResponse() {
        cluster.transactionVersion(2);
        try (Producer producer = producer().callTimeout(Duration.ofMillis(300)).build()) {
            producer.inTransaction(transaction -> transaction.send(record(0)));
            // when
            cluster.faults(key -> key == ApiKey.END_TXN ? Fault.DROP_BEFORE : Fault.NONE);
            assertThatThrownBy(() -> producer.inTransaction(transaction -> transaction.send(record(0))))
                    .isInstanceOf(TransactionUnknownException.class)
                    .hasMessageContaining("check before");
            // then it goes on as a producer that starts again
            cluster.faults(key -> Fault.NONE);
            producer.inTransaction(transaction -> transaction.send(record(0)));
        }
        assertThat(cluster.values(FIRST)).hasSize(3);
        assertThat(coordinator.asked(ApiKey.INIT_PRODUCER_ID, InitProducerIdRequest.class))
                .hasSize(2);
    }

    @Test
    void shouldNotFailTheNextTransactionWhenARecordOfAnInterruptedOneFailsLater() throws InterruptedException {
        cluster.transactionVersion(2);
        AtomicInteger produced = new AtomicInteger();
        cluster.faults(key -> key == ApiKey.PRODUCE && produced.getAndIncrement() == 0 ? Fault.DEAF : Fault.NONE);
        Duration timeout = Duration.ofMillis(500);
        try (Producer producer = producer().deliveryTimeout(timeout).build()) {
            // given
            assertThatThrownBy(() -> producer.inTransaction(transaction -> {
                        var unused = transaction.sendAsync(record(0));
                        while (produced.get() == 0) {
                            Thread.sleep(1);
                        }
                        Thread.currentThread().interrupt();
                        transaction.send(record(0));
                    }))
                    .isInstanceOf(InterruptedWaitException.class);
            assertThat(Thread.interrupted()).isTrue();
            // when
            producer.inTransaction(transaction -> {
                transaction.send(record(1));
                Thread.sleep(2 * timeout.toMillis());
            });
        }
        // then
        assertThat(ends()).extracting(EndTxnRequest::committed).containsExactly(true);
        assertThat(cluster.numbers(SECOND)).containsExactly("1:0T");
    }

    @Test
    void shouldNotFailTheNextTransactionWhenAPartitionOfAnInterruptedOneIsRefusedLater() throws InterruptedException {
        coordinator.refuse(
                ApiKey.ADD_PARTITIONS_TO_TXN, ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.INVALID_PRODUCER_EPOCH);
        try (Producer producer = producer()
                .retryBackoff(Duration.ofMillis(500), Duration.ofMillis(500))
                .build()) {
            // given
            assertThatThrownBy(() -> producer.inTransaction(transaction -> {
                        var unused = transaction.sendAsync(record(0));
                        while (coordinator
                                .asked(ApiKey.ADD_PARTITIONS_TO_TXN, AddPartitionsToTxnRequest.class)
                                .isEmpty()) {
                            Thread.sleep(1);
                        }
                        Thread.currentThread().interrupt();
                        transaction.send(record(0));
                    }))
                    .isInstanceOf(InterruptedWaitException.class);
            assertThat(Thread.interrupted()).isTrue();
            // when
            producer.inTransaction(transaction -> transaction.send(record(0)));
        }
        // then
        assertThat(coordinator.asked(ApiKey.ADD_PARTITIONS_TO_TXN, AddPartitionsToTxnRequest.class))
                .extracting(AddPartitionsToTxnRequest::v3AndBelowProducerEpoch)
                .containsExactly((short) 0, (short) 0, (short) 1);
        assertThat(ends()).extracting(EndTxnRequest::committed).containsExactly(true);
        assertThat(cluster.numbers(FIRST)).containsExactly("1:0T");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void shouldNotFailTheNextTransactionWhenOffsetsOfAnInterruptedOneAreRefusedLater(int transactionVersion)
            throws InterruptedException {
        cluster.transactionVersion(transactionVersion);
        coordinator.refuse(
                ApiKey.TXN_OFFSET_COMMIT, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.INVALID_PRODUCER_EPOCH);
        CompletableFuture<Void> committed = new CompletableFuture<>();
        try (Producer producer = producer()
                .retryBackoff(Duration.ofMillis(500), Duration.ofMillis(500))
                .build()) {
            // given
            assertThatThrownBy(() -> producer.inTransaction(transaction -> {
                        Thread other = new Thread(() -> {
                            try {
                                transaction.commitOffsets("billing", Map.of(FIRST, CommittedOffset.of(9)));
                                committed.complete(null);
                            } catch (ProducerReplacedException e) {
                                committed.completeExceptionally(e);
                            }
                        });
                        other.start();
                        while (coordinator
                                .asked(ApiKey.TXN_OFFSET_COMMIT, TxnOffsetCommitRequest.class)
                                .isEmpty()) {
                            Thread.sleep(1);
                        }
                        Thread.currentThread().interrupt();
                        transaction.send(record(0));
                    }))
                    .isInstanceOf(InterruptedWaitException.class);
            assertThat(Thread.interrupted()).isTrue();
            // when
            producer.inTransaction(transaction -> {
                transaction.send(record(1));
                assertThatThrownBy(committed::join).hasCauseInstanceOf(ProducerReplacedException.class);
            });
        }
        // then
        assertThat(ends()).extracting(EndTxnRequest::committed).endsWith(true);
        assertThat(cluster.numbers(SECOND)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"INIT_PRODUCER_ID", "TXN_OFFSET_COMMIT", "END_TXN"})
    void shouldNeverWorkAgainWhenItWasReplaced(ApiKey where) {
        cluster.transactionVersion(2);
        coordinator.refuse(where, ErrorCode.PRODUCER_FENCED);
        if (where != ApiKey.INIT_PRODUCER_ID) {
            coordinator.refuse(ApiKey.END_TXN, ErrorCode.PRODUCER_FENCED);
        }
        try (Producer producer = producer().build()) {
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> producer.inTransaction(transaction -> {
                            transaction.send(record(0));
                            transaction.commitOffsets("billing", Map.of(FIRST, CommittedOffset.of(9)));
                        }))
                        .isInstanceOf(ProducerReplacedException.class)
                        .hasMessageContaining("another producer with this transactionalId");
            }
        }
    }

    @Test
    void shouldAskNothingWhenNothingWasSent() {
        try (Producer producer = producer().build()) {
            producer.inTransaction(transaction -> {});
            assertThatThrownBy(() -> producer.inTransaction(transaction -> {
                        throw new IllegalArgumentException("no");
                    }))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(ends()).isEmpty();
    }

    private List<EndTxnRequest> ends() {
        return coordinator.asked(ApiKey.END_TXN, EndTxnRequest.class);
    }

    private Producer.Builder producer() {
        return Producer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .transactionalId("copier")
                .retryBackoff(Duration.ofMillis(5), Duration.ofMillis(50))
                .reconnectBackoff(Duration.ofMillis(5), Duration.ofMillis(50));
    }

    private static ProducerRecord record(int partition) {
        return ProducerRecord.of("orders", partition, null, "value".getBytes(UTF_8));
    }
}
