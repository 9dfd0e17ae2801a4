package io.journalq.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.CorruptBatchException;
import io.journalq.client.error.OffsetOutOfRangeException;
import io.journalq.client.fake.FakeCluster;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Records by subscription, over real sockets. */
@Timeout(60)
final class RecordPublisherTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final TopicPartition SECOND = new TopicPartition("orders", 1);
    private static final long QUIET_MS = 400;

    private FakeCluster cluster;

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(1).topic("orders", 2);
        try (Producer producer =
                Producer.builder().bootstrapServers(cluster.bootstrapServers()).build()) {
            for (int partition = 0; partition < 2; partition++) {
                producer.sendBatch(
                                "orders",
                                partition,
                                IntStream.range(0, 10)
                                        .mapToObj(i -> ProducerRecord.of("orders", ("" + i).getBytes(UTF_8)))
                                        .toList())
                        .join();
            }
        }
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    @Test
    void shouldDeliverAsManyRecordsAsRequested() throws Exception {
        Collector collector = new Collector();
        Consumer consumer = assigned(consumer().build());
        consumer.publisher().subscribe(collector);
        Flow.Subscription subscription = collector.subscription.get(30, TimeUnit.SECONDS);
        // when, then
        assertThat(collector.received.poll(QUIET_MS, TimeUnit.MILLISECONDS)).isNull();
        assertThat(consumer.metrics().records()).as("polled without demand").isZero();
        subscription.request(3);
        collector.take(3);
        assertThat(collector.received.poll(QUIET_MS, TimeUnit.MILLISECONDS)).isNull();
        subscription.request(Long.MAX_VALUE);
        subscription.request(Long.MAX_VALUE);
        collector.take(17);
        // and records that are written later
        try (Producer producer =
                Producer.builder().bootstrapServers(cluster.bootstrapServers()).build()) {
            producer.send(ProducerRecord.of("orders", 1, null, null));
        }
        assertThat(collector.take(1).get(0).offset()).isEqualTo(10);
        subscription.cancel();
        awaitClosed(consumer);
        assertThat(collector.end).isNotDone();
    }

    @Test
    void shouldCommitOnlyWhatTheSubscriberReceivedWhenItCancels() throws Exception {
        Collector collector = new Collector();
        Consumer consumer = assigned(consumer().groupId("billing").build());
        consumer.publisher().subscribe(collector);
        Flow.Subscription subscription = collector.subscription.get(30, TimeUnit.SECONDS);
        subscription.request(4);
        List<ConsumerRecord> received = collector.take(4);
        // when
        subscription.cancel();
        awaitClosed(consumer);
        // then: a consumer of the same group continues there
        assertThat(received).extracting(ConsumerRecord::offset).containsExactly(0L, 1L, 2L, 3L);
        TopicPartition read = new TopicPartition("orders", received.get(0).partition());
        assertThat(committed(read)).isEqualTo(4);
        assertThat(committed(read.equals(FIRST) ? SECOND : FIRST)).isZero();
    }

    @Test
    void shouldCompleteAndCommitOnlyWhatWasReceivedWhenTheApplicationClosesTheConsumer() throws Exception {
        Collector collector = new Collector();
        Consumer consumer = assigned(consumer().groupId("billing").build());
        consumer.publisher().subscribe(collector);
        collector.subscription.get(30, TimeUnit.SECONDS).request(4);
        List<ConsumerRecord> received = collector.take(4);
        // when
        consumer.close();
        // then
        assertThat(collector.end.get(30, TimeUnit.SECONDS)).isEqualTo("complete");
        assertThat(committed(new TopicPartition("orders", received.get(0).partition())))
                .isEqualTo(4);
    }

    @Test
    void shouldPassTheFailureOnWhenAPollFails() throws Exception {
        Collector collector = new Collector();
        Consumer consumer = consumer().startAt(Consumer.Start.NOWHERE).build();
        consumer.assign(List.of(FIRST));
        consumer.publisher().subscribe(collector);
        collector.subscription.get(30, TimeUnit.SECONDS).request(1);
        // then
        assertThat(collector.end.get(30, TimeUnit.SECONDS)).isInstanceOf(OffsetOutOfRangeException.class);
        assertThatThrownBy(consumer::metrics).isInstanceOf(ClientClosedException.class);
    }

    /** The last record of the last batch cannot be read, and its checksum does not tell. */
    @Test
    void shouldCommitOnlyWhatTheSubscriberReceivedWhenARecordCannotBeRead() throws Exception {
        try (Producer producer = Producer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .compression(CompressionCodec.NONE)
                .build()) {
            producer.sendBatch(
                            "orders", 0, List.of(ProducerRecord.of("orders", null), ProducerRecord.of("orders", null)))
                    .join();
        }
        cluster.corrupt(FIRST, 1);
        Collector collector = new Collector();
        Consumer consumer = consumer().groupId("billing").checkCrc(false).build();
        consumer.assign(List.of(FIRST));
        // when
        consumer.publisher().subscribe(collector);
        collector.subscription.get(30, TimeUnit.SECONDS).request(Long.MAX_VALUE);
        // then
        assertThat(collector.end.get(30, TimeUnit.SECONDS)).isInstanceOf(CorruptBatchException.class);
        assertThat(committed(FIRST)).isEqualTo(collector.received.size()).isLessThan(12);
    }

    @Test
    void shouldFailTheSubscriptionWhenTheDemandIsNotPositive() throws Exception {
        Collector collector = new Collector();
        Consumer consumer = assigned(consumer().build());
        consumer.publisher().subscribe(collector);
        collector.subscription.get(30, TimeUnit.SECONDS).request(0);

        assertThat(collector.end.get(30, TimeUnit.SECONDS)).isInstanceOf(IllegalArgumentException.class);
        awaitClosed(consumer);
    }

    @Test
    void shouldRefuseASecondSubscriberAndOtherThreads() throws Exception {
        Collector collector = new Collector();
        Collector second = new Collector();
        try (Consumer consumer = assigned(consumer().build())) {
            Flow.Publisher<ConsumerRecord> publisher = consumer.publisher();
            publisher.subscribe(collector);
            collector.subscription.get(30, TimeUnit.SECONDS).request(1);
            collector.take(1);
            // when
            publisher.subscribe(second);
            // then
            assertThat(second.end.get(30, TimeUnit.SECONDS)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> consumer.poll(Duration.ZERO))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("journalq-publisher");
            assertThatThrownBy(() -> publisher.subscribe(null)).hasMessage("subscriber must not be null");
        }
        assertThat(collector.end.get(30, TimeUnit.SECONDS)).isEqualTo("complete");
    }

    @Test
    void shouldAllowTheSubscriberToCommitAndToCancelInOnNext() throws Exception {
        Consumer consumer =
                assigned(consumer().groupId("billing").autoCommit(false).build());
        Collector collector = new Collector() {
            @Override
            public void onNext(ConsumerRecord record) {
                if (record.offset() == 2) {
                    consumer.commit(
                            Map.of(new TopicPartition(record.topic(), record.partition()), CommittedOffset.of(3)));
                    subscription.join().cancel();
                }
                super.onNext(record);
            }
        };
        consumer.publisher().subscribe(collector);
        collector.subscription.get(30, TimeUnit.SECONDS).request(Long.MAX_VALUE);
        List<ConsumerRecord> received = collector.take(3);
        awaitClosed(consumer);

        assertThat(collector.received).isEmpty();
        assertThat(committed(new TopicPartition("orders", received.get(0).partition())))
                .isEqualTo(3);
    }

    private static void awaitClosed(Consumer consumer) throws Exception {
        while (!consumer.isClosed()) {
            Thread.sleep(10);
        }
        // Waits for the thread that closes it.
        consumer.close();
        Thread.sleep(QUIET_MS);
    }

    private long committed(TopicPartition partition) {
        try (Consumer reader = consumer().groupId("billing").autoCommit(false).build()) {
            CommittedOffset offset = reader.committed(List.of(partition)).get(partition);
            return offset == null ? 0 : offset.offset();
        }
    }

    private static Consumer assigned(Consumer consumer) {
        consumer.assign(List.of(FIRST, SECOND));
        return consumer;
    }

    private Consumer.Builder consumer() {
        return Consumer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .fetchMaxWait(Duration.ofMillis(200))
                .startAt(Consumer.Start.BEGINNING);
    }

    /** Collects what a publisher signals. */
    private static class Collector implements Flow.Subscriber<ConsumerRecord> {
        final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();
        final BlockingQueue<ConsumerRecord> received = new LinkedBlockingQueue<>();
        final CompletableFuture<Object> end = new CompletableFuture<>();

        @Override
        public void onSubscribe(Flow.Subscription started) {
            subscription.complete(started);
        }

        @Override
        public void onNext(ConsumerRecord record) {
            received.add(record);
        }

        @Override
        public void onError(Throwable failure) {
            end.complete(failure);
        }

        @Override
        public void onComplete() {
            end.complete("complete");
        }

        List<ConsumerRecord> take(int count) throws InterruptedException {
            List<ConsumerRecord> taken = new ArrayList<>();
            while (taken.size() < count) {
                ConsumerRecord record = received.poll(30, TimeUnit.SECONDS);
                assertThat(record).as("record " + taken.size()).isNotNull();
                taken.add(record);
            }
            return taken;
        }
    }
}
