package io.journalq.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.BufferExhaustedException;
import io.journalq.client.fake.FakeCluster;
import io.journalq.client.fake.Fault;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Asynchronous sends of a producer that asks for no acknowledgements. */
@Timeout(60)
final class SendWithoutResponseTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final long LIMIT_MS = 30_000;

    private FakeCluster cluster;

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(1).topic("orders", 1);
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    @Test
    void shouldKeepTheOrderAndSendNothingTwiceWhenRecordsAreGathered() throws Exception {
        // given
        int count = 5_000;
        ProducerMetrics metrics;

        // when
        try (Producer producer = producer().build()) {
            send(producer, count);
            producer.flush();
            metrics = producer.metrics();
        }

        // then
        awaitRecords(count);
        assertThat(cluster.values(FIRST)).containsExactlyElementsOf(numbered(count));
        assertThat(metrics.records()).isEqualTo(count);
        assertThat(metrics.bufferedBytes()).isZero();
        assertThat(metrics.requests()).as("several records share a request").isLessThan(count);
    }

    @Test
    void shouldKeepTheOrderAndSendNothingTwiceWhenBatchesAreSmallerThanWhatGathers() throws Exception {
        int count = 5_000;
        try (Producer producer =
                producer().batchSizeBytes(200).maxRequestSizeBytes(1_000).build()) {
            send(producer, count);
        }

        awaitRecords(count);
        assertThat(cluster.values(FIRST)).containsExactlyElementsOf(numbered(count));
    }

    @Test
    void shouldSendEverythingBeforeItIsClosed() throws Exception {
        int count = 1_000;
        List<CompletableFuture<RecordMetadata>> sent;
        try (Producer producer = producer().build()) {
            sent = send(producer, count);
        }

        assertThat(sent).allMatch(CompletableFuture::isDone).noneMatch(CompletableFuture::isCompletedExceptionally);
        awaitRecords(count);
        assertThat(cluster.values(FIRST)).containsExactlyElementsOf(numbered(count));
    }

    @Test
    void shouldStopTakingRecordsWhenTheBrokerDoesNotRead() throws Exception {
        // given a connection that works, and then is not read any more
        long limitBytes = 256 * 1024;
        byte[] value = new byte[16 * 1024];
        try (Producer producer = producer()
                .bufferMemoryBytes(limitBytes)
                .callTimeout(Duration.ofSeconds(3))
                .deliveryTimeout(Duration.ofSeconds(5))
                .build()) {
            producer.sendAsync(ProducerRecord.of("orders", 0, null, value)).get(LIMIT_MS, TimeUnit.MILLISECONDS);
            cluster.faults(key -> key == ApiKey.PRODUCE ? Fault.DEAF : Fault.NONE);

            // when more is sent than the kernel's buffers and the producer's take, then it waits and says so
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 10_000; i++) {
                            var unused = producer.sendAsync(ProducerRecord.of("orders", 0, null, value));
                            assertThat(producer.metrics().bufferedBytes()).isLessThanOrEqualTo(limitBytes);
                        }
                    })
                    .isInstanceOf(BufferExhaustedException.class);
        }
    }

    private Producer.Builder producer() {
        return Producer.builder().bootstrapServers(cluster.bootstrapServers()).acks(Acks.NONE);
    }

    private static List<CompletableFuture<RecordMetadata>> send(Producer producer, int count) {
        List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>(count);
        for (String value : numbered(count)) {
            sent.add(producer.sendAsync(ProducerRecord.of("orders", 0, null, value.getBytes(UTF_8))));
        }
        return sent;
    }

    private static List<String> numbered(int count) {
        return IntStream.range(0, count).mapToObj(Integer::toString).toList();
    }

    private void awaitRecords(int count) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MS);
        while (cluster.endOffset(FIRST) < count && System.nanoTime() < deadlineNanos) {
            Thread.sleep(10);
        }
    }
}
