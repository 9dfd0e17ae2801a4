package io.journalq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.fake.FakeCluster;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.common.id.TopicPartition;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A send that finds no direct memory fails, and takes nothing with it. */
@Timeout(60)
final class ProducerOutOfMemoryTest {
    private static final int LARGEST_BYTES = 256 * 1024 * 1024;
    private static final int SMALLEST_BYTES = 256;
    private static final int BATCH_BYTES = 1024 * 1024;

    private final List<ByteBuf> taken = new ArrayList<>();
    private FakeCluster cluster;

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(1).topic("orders", 1);
    }

    @AfterEach
    void stop() {
        giveMemoryBack();
        cluster.close();
    }

    @Test
    void shouldSendTheRecordsBeforeOneForWhichThereIsNoMemory() throws Exception {
        try (Producer producer = producer().linger(Duration.ofSeconds(20)).build()) {
            CompletableFuture<RecordMetadata> first = producer.sendAsync(record(1));
            producer.flush();
            assertThat(first).isCompleted();
            // given a batch that has no room for the next record
            CompletableFuture<RecordMetadata> before = producer.sendAsync(record(1));
            takeMemory();

            // when
            assertThatThrownBy(() -> producer.sendAsync(record(BATCH_BYTES))).isInstanceOf(OutOfMemoryError.class);
            giveMemoryBack();

            // then
            assertThat(before.get(10, TimeUnit.SECONDS).offset()).isEqualTo(1);
            producer.flush();
            assertThat(producer.metrics().failedRecords()).isZero();
            assertThat(producer.metrics().bufferedBytes()).isZero();
        }
        assertThat(cluster.endOffset(new TopicPartition("orders", 0))).isEqualTo(2);
    }

    @Test
    void shouldAccountForNoRecordWhenThereIsNoMemoryForAConnection() throws Exception {
        try (Producer producer = producer().build()) {
            // given a connection of the event loop, and none of the caller
            producer.sendAsync(record(1)).get(10, TimeUnit.SECONDS);
            takeMemory();

            // when
            assertThatThrownBy(() -> producer.send(record(1))).isInstanceOf(OutOfMemoryError.class);
            giveMemoryBack();

            // then
            assertThat(producer.metrics().bufferedBytes()).isZero();
            assertThat(producer.send(record(1)).offset()).isEqualTo(1);
        }
    }

    @Test
    void shouldSendTheRecordsOfARequestForWhichThereWasNoMemory() throws Exception {
        int partitions = 60;
        cluster.topic("many", partitions);
        try (Producer producer = producer().linger(Duration.ofSeconds(20)).build()) {
            // given batches of one request, which copies them
            List<CompletableFuture<RecordMetadata>> sent = new ArrayList<>();
            for (int sizeBytes : new int[] {1, 15_000}) {
                producer.flush();
                sent.clear();
                for (int i = 0; i < partitions; i++) {
                    sent.add(producer.sendAsync(ProducerRecord.of("many", i, null, new byte[sizeBytes])));
                }
            }
            takeMemory();

            // when
            CompletableFuture<Void> flush = CompletableFuture.runAsync(producer::flush);
            Thread.sleep(500);
            giveMemoryBack();

            // then
            flush.get(20, TimeUnit.SECONDS);
            assertThat(sent).allMatch(record -> record.isDone() && !record.isCompletedExceptionally());
            assertThat(producer.metrics().bufferedBytes()).isZero();
        }
    }

    private void takeMemory() {
        for (int bytes = LARGEST_BYTES; bytes >= SMALLEST_BYTES; bytes /= 2) {
            boolean room = true;
            while (room) {
                try {
                    taken.add(ByteBufAllocator.DEFAULT.directBuffer(bytes));
                } catch (OutOfMemoryError none) {
                    room = false;
                }
            }
        }
    }

    private void giveMemoryBack() {
        taken.forEach(ByteBuf::release);
        taken.clear();
    }

    private Producer.Builder producer() {
        return Producer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .batchSizeBytes(BATCH_BYTES)
                .maxRequestSizeBytes(4 * BATCH_BYTES)
                .reconnectBackoff(Duration.ofMillis(5), Duration.ofMillis(50));
    }

    private static ProducerRecord record(int sizeBytes) {
        return ProducerRecord.of("orders", new byte[sizeBytes]);
    }
}
