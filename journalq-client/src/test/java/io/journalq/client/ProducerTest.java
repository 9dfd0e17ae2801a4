package io.journalq.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.DeliveryTimedOutException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.RecordTooLargeException;
import io.journalq.client.error.RequestTimedOutException;
import io.journalq.client.error.UnknownTopicException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.fake.FakeCluster;
import io.journalq.client.fake.Fault;
import io.journalq.client.record.BatchMetadata;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.CompressionCodec;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class ProducerTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);

    private FakeCluster cluster;

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(1).topic("orders", 4);
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    @Test
    void shouldSendToOtherTopicsAfterANameThatNoRequestCanContain() {
        try (Producer producer = producer().callTimeout(Duration.ofSeconds(5)).build()) {
            String tooLong = "x".repeat(40_000);
            assertThatThrownBy(() -> producer.send(ProducerRecord.of(tooLong, new byte[1])))
                    .isInstanceOfSatisfying(JournalQException.class, refused -> assertThat(refused.errorCode())
                            .isEqualTo(ErrorCode.INVALID_TOPIC_EXCEPTION));
            assertThat(producer.send(to(0, "value")).offset()).isZero();
        }
    }

    @Test
    void shouldTellWhereARecordStandsWhenASendReturns() {
        try (Producer producer = producer().build()) {
            // when a lone sender sends one after the other
            for (int i = 0; i < 20; i++) {
                RecordMetadata where = producer.send(to(0, "value " + i));
                // then
                assertThat(where.partition()).isZero();
                assertThat(where.offset()).isEqualTo(i);
                assertThat(where.timestampMs()).isPositive();
            }
            assertThat(cluster.values(FIRST)).hasSize(20).startsWith("value 0").endsWith("value 19");
            assertThat(producer.metrics().records()).isEqualTo(20);
            assertThat(producer.metrics().directSends()).isPositive();
            assertThat(producer.metrics().bufferedBytes()).isZero();
        }
    }

    @Test
    void shouldSendThroughTheEventLoopWhenTheBrokerDoesNotRespondToAnotherConnection() throws Exception {
        try (Producer producer =
                producer().connectTimeout(Duration.ofMillis(100)).build()) {
            // given a connection of the event loop, and none of the caller
            producer.sendAsync(to(0, "first")).get(10, TimeUnit.SECONDS);
            cluster.ignoreNewConnections();
            // when
            for (int i = 1; i <= 3; i++) {
                assertThat(producer.send(to(0, "value " + i)).offset()).isEqualTo(i);
            }
            // then
            assertThat(producer.metrics().directSends()).isZero();
        }
    }

    @Test
    void shouldGiveEachOfManySendersItsOwnOffset() throws Exception {
        // given
        int threads = 20;
        int each = 200;
        Set<Long> offsets = new ConcurrentSkipListSet<>();
        try (Producer producer = producer().compression(CompressionCodec.LZ4).build()) {
            // when
            run(threads, thread -> {
                for (int i = 0; i < each; i++) {
                    offsets.add(producer.send(to(0, thread + ":" + i)).offset());
                }
            });
        }
        // then
        assertThat(offsets).hasSize(threads * each);
        assertThat(cluster.endOffset(FIRST)).isEqualTo((long) threads * each);
        assertThat(new TreeSet<>(cluster.values(FIRST))).hasSize(threads * each);
    }

    @Test
    void shouldKeepTheOrderOfAsynchronousSends() {
        List<CompletableFuture<RecordMetadata>> results = new ArrayList<>();
        List<String> sent = new ArrayList<>();
        try (Producer producer = producer().batchSizeBytes(500).build()) {
            for (int i = 0; i < 2_000; i++) {
                sent.add("value " + i);
                results.add(producer.sendAsync(to(1, "value " + i)));
            }
            producer.flush();
            for (int i = 0; i < results.size(); i++) {
                assertThat(results.get(i)).isDone();
                assertThat(results.get(i).join().offset()).isEqualTo(i);
            }
        }
        assertThat(cluster.values(new TopicPartition("orders", 1))).isEqualTo(sent);
    }

    @Test
    void shouldSendASingleRecordAfterTheLinger() throws Exception {
        try (Producer producer = producer().linger(Duration.ofMillis(30)).build()) {
            long startNanos = System.nanoTime();
            producer.sendAsync(to(0, "alone")).get(30, TimeUnit.SECONDS);
            assertThat(System.nanoTime() - startNanos).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(25));
        }
    }

    @Test
    void shouldShipAReadyBatchAsOne() {
        try (Producer producer = producer().compression(CompressionCodec.LZ4).build()) {
            List<ProducerRecord> records = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                records.add(to(0, "the same text again and again " + i));
            }
            BatchMetadata first = producer.sendBatch("orders", 0, records).join();
            BatchMetadata second = producer.sendBatch("orders", 0, records).join();
            assertThat(first.recordCount()).isEqualTo(100);
            assertThat(first.baseOffset()).isZero();
            assertThat(second.baseOffset()).isEqualTo(100);
            assertThat(cluster.batchCount(FIRST)).isEqualTo(2);
        }
        assertThatThrownBy(() -> {
                    try (Producer producer = producer().build()) {
                        producer.sendBatch("orders", 0, List.of());
                    }
                })
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldKeepTheOrderOfRecordsAndBatchesMixed() {
        List<String> sent = new ArrayList<>();
        try (Producer producer = producer().build()) {
            List<CompletableFuture<?>> results = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                sent.add("single " + i);
                results.add(producer.sendAsync(to(0, "single " + i)));
                sent.add("batch " + i);
                results.add(producer.sendBatch("orders", 0, List.of(to(0, "batch " + i))));
            }
            results.forEach(CompletableFuture::join);
        }
        assertThat(cluster.values(FIRST)).isEqualTo(sent);
    }

    @Test
    void shouldPutEqualKeysIntoOnePartition() {
        try (Producer producer = producer().build()) {
            for (int key = 0; key < 20; key++) {
                byte[] bytes = ("key" + key).getBytes(UTF_8);
                int partition =
                        producer.send(ProducerRecord.of("orders", bytes, bytes)).partition();
                assertThat(producer.send(ProducerRecord.of("orders", bytes, bytes))
                                .partition())
                        .isEqualTo(partition);
            }
        }
    }

    @Test
    void shouldSpreadRecordsOverThePartitionsWhenRoundRobin() {
        try (Producer producer =
                producer().partitioning(Partitioning.ROUND_ROBIN).build()) {
            for (int i = 0; i < 8; i++) {
                producer.send(ProducerRecord.of("orders", "x".getBytes(UTF_8)));
            }
        }
        for (int partition = 0; partition < 4; partition++) {
            assertThat(cluster.endOffset(new TopicPartition("orders", partition)))
                    .isEqualTo(2);
        }
    }

    @Test
    void shouldNotWaitForAResponseWithoutAcknowledgements() throws Exception {
        try (Producer producer = producer().acks(Acks.NONE).build()) {
            RecordMetadata where = producer.send(to(0, "gone"));
            assertThat(where.offset()).isEqualTo(RecordMetadata.UNKNOWN_OFFSET);
        }
        for (int i = 0; i < 100 && cluster.endOffset(FIRST) == 0; i++) {
            Thread.sleep(20);
        }
        assertThat(cluster.values(FIRST)).containsExactly("gone");
    }

    @Test
    void shouldSayWhatToDoWhenTheBrokerKnowsNoProducerIds() {
        cluster.withdraw(ApiKey.INIT_PRODUCER_ID);
        try (Producer producer = producer().build()) {
            assertThatThrownBy(() -> producer.send(to(0, "x")))
                    .isInstanceOf(UnsupportedByBrokerException.class)
                    .hasMessageContaining("idempotent(false)");
        }
        try (Producer producer = producer().idempotent(false).build()) {
            assertThat(producer.send(to(0, "x")).offset()).isZero();
        }
    }

    @Test
    void shouldRefuseWhatCannotBeSent() {
        try (Producer producer = producer().maxRequestSizeBytes(1000).build()) {
            assertThatThrownBy(() -> producer.send(ProducerRecord.of("orders", new byte[2000])))
                    .isInstanceOf(RecordTooLargeException.class)
                    .hasMessageContaining("maxRequestSizeBytes");
            assertThatThrownBy(() -> producer.send(ProducerRecord.of("nothing", new byte[1])))
                    .isInstanceOf(UnknownTopicException.class)
                    .hasMessageContaining("nothing");
            assertThatThrownBy(() -> producer.send(to(4, "x"))).isInstanceOf(UnknownTopicException.class);
            assertThat(producer.metrics().bufferedBytes()).isZero();
        }
    }

    @Test
    void shouldWorkWithTheOldestVersionsThatABrokerMayServe() {
        cluster.limit(ApiKey.PRODUCE, 3);
        cluster.limit(ApiKey.METADATA, 1);
        cluster.limit(ApiKey.INIT_PRODUCER_ID, 0);
        cluster.limit(ApiKey.API_VERSIONS, 0);
        cluster.refuseNewApiVersions();
        try (Producer producer = producer().build()) {
            assertThat(producer.send(to(0, "x")).offset()).isZero();
            assertThat(producer.send(to(0, "y")).offset()).isEqualTo(1);
        }
    }

    @Test
    void shouldFollowALeaderThatMoves() throws Exception {
        try (FakeCluster two = new FakeCluster(2).topic("orders", 1);
                Producer producer =
                        producer().bootstrapServers(two.bootstrapServers()).build()) {
            for (int i = 0; i < 40; i++) {
                assertThat(producer.send(to(0, "value " + i)).offset()).isEqualTo(i);
                if (i % 10 == 9) {
                    two.moveLeader(FIRST, 1 - two.leader(FIRST));
                }
            }
            assertThat(two.values(FIRST)).hasSize(40);
        }
    }

    @Test
    void shouldUseOnlyThePartitionsThatExistWhenATopicIsCreatedAgainWithFewer() throws Exception {
        try (Producer producer =
                producer().deliveryTimeout(Duration.ofSeconds(2)).build()) {
            // given records in all four partitions
            for (int i = 0; i < 20; i++) {
                producer.send(ProducerRecord.of("orders", ("key " + i).getBytes(UTF_8), new byte[1]));
            }
            assertThat(producer.partitionCount("orders")).isEqualTo(4);

            // when
            cluster.topic("orders", 1);
            CompletableFuture<RecordMetadata> toOneThatIsGone = producer.sendAsync(to(3, "gone"));
            assertThatThrownBy(() -> toOneThatIsGone.get(20, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(DeliveryTimedOutException.class);

            // then
            assertThat(producer.partitionCount("orders")).isEqualTo(1);
            List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                sent.add(producer.sendAsync(ProducerRecord.of("orders", ("key " + i).getBytes(UTF_8), new byte[1])));
                sent.add(producer.sendAsync(ProducerRecord.of("orders", new byte[1])));
            }
            for (CompletableFuture<RecordMetadata> record : sent) {
                assertThat(record.get(20, TimeUnit.SECONDS).partition()).isZero();
            }
            assertThatThrownBy(() -> producer.send(to(3, "x"))).isInstanceOf(UnknownTopicException.class);
        }
    }

    @Test
    void shouldSendToANewLeaderBeforeThePauseAfterAnErrorEnds() throws Exception {
        Duration pause = Duration.ofSeconds(2);
        try (FakeCluster two = new FakeCluster(2).topic("orders", 1);
                Producer producer = producer()
                        .bootstrapServers(two.bootstrapServers())
                        .retryBackoff(pause, pause)
                        .build()) {
            producer.sendAsync(to(0, "first")).get(20, TimeUnit.SECONDS);
            Thread.sleep(2 * pause.toMillis()); // metadata are not requested more often than each pause
            long startNanos = System.nanoTime();
            two.moveLeader(FIRST, 1 - two.leader(FIRST));
            producer.sendAsync(to(0, "second")).get(20, TimeUnit.SECONDS);
            assertThat(Duration.ofNanos(System.nanoTime() - startNanos)).isLessThan(pause.dividedBy(2));
        }
    }

    @Test
    void shouldSendToTheLeaderThatARefusalNames() throws Exception {
        Duration pause = Duration.ofSeconds(5); // until metadata are requested again, and until a batch is
        try (FakeCluster two = new FakeCluster(2).topic("orders", 1).nameLeaders();
                Producer producer = producer()
                        .bootstrapServers(two.bootstrapServers())
                        .retryBackoff(pause, pause)
                        .build()) {
            producer.sendAsync(to(0, "first")).get(20, TimeUnit.SECONDS);
            for (int move = 0; move < 2; move++) {
                long startNanos = System.nanoTime();
                two.moveLeader(FIRST, 1 - two.leader(FIRST));
                producer.sendAsync(to(0, "next")).get(20, TimeUnit.SECONDS);
                assertThat(Duration.ofNanos(System.nanoTime() - startNanos)).isLessThan(pause.dividedBy(2));
            }
        }
    }

    @Test
    void shouldSendToOtherPartitionsOfABrokerWhenResponsesAreLate() throws Exception {
        try (FakeCluster two = new FakeCluster(2).topic("orders", 20);
                Producer producer = producer()
                        .bootstrapServers(two.bootstrapServers())
                        .deliveryTimeout(Duration.ofSeconds(5))
                        .build()) {
            // given partitions with the same leader, which is so near that a few requests in flight are enough
            int[] partitions = IntStream.range(0, 20)
                    .filter(partition -> two.leader(new TopicPartition("orders", partition)) == two.leader(FIRST))
                    .limit(8)
                    .toArray();
            for (int i = 0; i < 200; i++) {
                producer.sendAsync(to(partitions[i % partitions.length], "first"))
                        .get(20, TimeUnit.SECONDS);
            }
            long sent = producer.metrics().requests();

            // when it waits for the followers of one of them, and does not respond
            two.faults(key -> key == ApiKey.PRODUCE ? Fault.DEAF : Fault.NONE);

            // then records of the others are sent
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
            for (int partition : partitions) {
                var unused = producer.sendAsync(to(partition, "next"));
                sent++;
                while (producer.metrics().requests() < sent) {
                    assertThat(System.nanoTime()).as("requests are sent").isLessThan(deadlineNanos);
                    Thread.sleep(1);
                }
            }
        }
    }

    @Test
    void shouldGoOnUnderANewEpochWhenTheBrokerLostTrackOfTheProducer() {
        try (Producer producer = producer().build()) {
            for (int i = 0; i < 5; i++) {
                producer.send(to(0, "value " + i));
            }
            // when
            cluster.outdate(FIRST);
            // then
            assertThat(producer.send(to(0, "value 5")).offset()).isEqualTo(5);
            assertThat(producer.send(to(0, "value 6")).offset()).isEqualTo(6);
        }
        assertThat(cluster.values(FIRST)).hasSize(7);
    }

    /** CVE-2026-35554 of Kafka's client: memory of an expired batch was used for another one while it was sent. */
    @Test
    @Tag("CVE-2026-35554")
    void shouldSendNoBytesOfABatchToAnotherTopicWhenItExpiresInFlight() throws Exception {
        // given responses that come later than records may take
        cluster.topic("audit", 1);
        TopicPartition audit = new TopicPartition("audit", 0);
        cluster.faults(key -> key == ApiKey.PRODUCE ? Fault.DELAY : Fault.NONE);
        int expired = 0;

        // when
        try (Producer producer = producer()
                .batchSizeBytes(2_000)
                .requestTimeout(Duration.ofMillis(40))
                .deliveryTimeout(Duration.ofMillis(50))
                .build()) {
            for (int round = 0; round < 20; round++) {
                List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    String topic = i % 2 == 0 ? "orders" : "audit";
                    sent.add(producer.sendAsync(
                            ProducerRecord.of(topic, 0, null, (topic + " ".repeat(i) + i).getBytes(UTF_8))));
                }
                for (CompletableFuture<RecordMetadata> record : sent) {
                    try {
                        record.get(20, TimeUnit.SECONDS);
                    } catch (ExecutionException late) {
                        expired++;
                    }
                }
            }
        }

        // then
        assertThat(expired).isPositive();
        assertThat(cluster.values(FIRST)).isNotEmpty().allMatch(value -> value.startsWith("orders"));
        assertThat(cluster.values(audit)).isNotEmpty().allMatch(value -> value.startsWith("audit"));
    }

    @Test
    void shouldFailWhenTheDeliveryTimeIsOver() {
        cluster.faults(key -> key == ApiKey.PRODUCE ? Fault.NOT_LEADER : Fault.NONE);
        try (Producer producer =
                producer().deliveryTimeout(Duration.ofMillis(400)).build()) {
            CompletableFuture<RecordMetadata> lost = producer.sendAsync(to(0, "lost"));
            assertThatThrownBy(() -> lost.get(20, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(DeliveryTimedOutException.class)
                    .hasMessageContaining("orders-0");
            // and the next goes through
            cluster.faults(key -> Fault.NONE);
            assertThat(producer.send(to(0, "found")).offset()).isZero();
            assertThat(producer.metrics().bufferedBytes()).isZero();
        }
        assertThat(cluster.values(FIRST)).containsExactly("found");
    }

    @Test
    void shouldCountEveryRecordOfABatchThatExpiresBeforeItIsSent() {
        // given a broker that gives no producer id, so that nothing is sent
        cluster.faults(key -> key == ApiKey.INIT_PRODUCER_ID ? Fault.DROP_BEFORE : Fault.NONE);
        try (Producer producer =
                producer().deliveryTimeout(Duration.ofMillis(400)).build()) {
            // when
            List<CompletableFuture<RecordMetadata>> lost =
                    List.of(producer.sendAsync(to(0, "a")), producer.sendAsync(to(0, "b")));
            // then
            lost.forEach(record -> assertThat(record).failsWithin(Duration.ofSeconds(20)));
            assertThat(producer.metrics().failedRecords()).isEqualTo(2);
        }
    }

    @Test
    void shouldEndWaitingSendsWhenClosed() throws Exception {
        cluster.faults(key -> key == ApiKey.PRODUCE ? Fault.NOT_LEADER : Fault.NONE);
        Producer producer = producer().deliveryTimeout(Duration.ofMillis(500)).build();
        CompletableFuture<RecordMetadata> waiting = producer.sendAsync(to(0, "x"));
        producer.close();
        assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
        assertThatThrownBy(() -> producer.send(to(0, "x"))).isInstanceOf(ClientClosedException.class);
        producer.close();
    }

    @Test
    void shouldSayWhatIsWrongWhenNoBrokerRuns() throws Exception {
        int freePort;
        try (ServerSocket socket = new ServerSocket(0)) {
            freePort = socket.getLocalPort();
        }
        try (Producer producer = Producer.builder()
                .bootstrapServers("localhost:" + freePort)
                .callTimeout(Duration.ofMillis(500))
                .build()) {
            assertThatThrownBy(() -> producer.send(to(0, "x")))
                    .isInstanceOf(RequestTimedOutException.class)
                    .hasMessageContaining("localhost:" + freePort)
                    .hasMessageContaining("check that");
        }
    }

    @Test
    void shouldHaveCompletedTheFuturesWhenAFlushReturns() throws Exception {
        CountDownLatch flushed = new CountDownLatch(1);
        try (Producer producer = producer().linger(Duration.ofSeconds(10)).build()) {
            CompletableFuture<RecordMetadata> first = producer.sendAsync(to(0, "first"));
            CompletableFuture<RecordMetadata> second = producer.sendAsync(to(0, "second"));
            // given an application that works on the first result for a while
            CompletableFuture<Boolean> tooEarly = first.thenApply(done -> isCountedDown(flushed));

            // when
            producer.flush();
            boolean complete = second.isDone();
            flushed.countDown();

            // then
            assertThat(complete).isTrue();
            assertThat(tooEarly.get(10, TimeUnit.SECONDS)).isFalse();
            assertThat(cluster.batchCount(FIRST)).isEqualTo(1);
        }
    }

    @Test
    void shouldFailAfterTheDeliveryTimeoutWhenASingleSenderHearsNothing() {
        try (Producer producer =
                producer().deliveryTimeout(Duration.ofSeconds(2)).build()) {
            // given a sender that writes to its own connection
            while (producer.metrics().directSends() == 0) {
                producer.send(to(0, "heard"));
            }
            AtomicInteger requests = new AtomicInteger();
            cluster.faults(key -> {
                requests.addAndGet(key == ApiKey.PRODUCE ? 1 : 0);
                return key == ApiKey.PRODUCE ? Fault.DEAF : Fault.NONE;
            });
            // when the broker freezes
            long begunNanos = System.nanoTime();
            assertThatThrownBy(() -> producer.send(to(0, "unheard"))).isInstanceOf(DeliveryTimedOutException.class);
            assertThat(System.nanoTime() - begunNanos).isLessThan(TimeUnit.SECONDS.toNanos(10));
            // then what has failed is not sent again
            assertThat(requests).hasValue(1);
        }
    }

    private static boolean isCountedDown(CountDownLatch latch) {
        try {
            return latch.await(300, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Producer.Builder producer() {
        return Producer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .retryBackoff(Duration.ofMillis(5), Duration.ofMillis(50))
                .reconnectBackoff(Duration.ofMillis(5), Duration.ofMillis(50));
    }

    private static ProducerRecord to(int partition, String value) {
        return ProducerRecord.of("orders", partition, null, value.getBytes(UTF_8));
    }

    interface Body {
        void run(int thread);
    }

    static void run(int threads, Body body) throws Exception {
        List<CompletableFuture<Void>> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int thread = i;
            CompletableFuture<Void> done = new CompletableFuture<>();
            running.add(done);
            new Thread(() -> {
                        try {
                            body.run(thread);
                            done.complete(null);
                        } catch (Throwable e) {
                            done.completeExceptionally(e);
                        }
                    })
                    .start();
        }
        for (CompletableFuture<Void> done : running) {
            done.get(50, TimeUnit.SECONDS);
        }
    }
}
