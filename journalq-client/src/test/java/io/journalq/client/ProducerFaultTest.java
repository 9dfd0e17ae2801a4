package io.journalq.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.fake.FakeCluster;
import io.journalq.client.fake.Fault;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.record.CompressionCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever brokers and connections do, an idempotent producer's acknowledged records are in the journal exactly once, at
 * the offset told, and in the order in which each thread sent them. One seed decides the faults.
 */
@Timeout(60)
final class ProducerFaultTest {
    private static final int BROKERS = 2;
    private static final int PARTITIONS = 3;
    private static final int FAULTS = 60;
    /** All that a request time-out is not needed for. */
    private static final List<Fault> KINDS =
            Stream.of(Fault.values()).filter(kind -> kind != Fault.DEAF).toList();

    /** What one thread heard, in the order of its sends: partition, value, offset. */
    private record Acknowledged(int partition, String value, long offset) {}

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void shouldAppendEveryAcknowledgedRecordOnceAndInOrder(long seed) throws Exception {
        // given brokers that fail at random, a number of times
        try (FakeCluster cluster = new FakeCluster(BROKERS).topic("orders", PARTITIONS)) {
            Random random = new Random(seed);
            int[] left = {FAULTS};
            cluster.faults(key -> {
                if (left[0] == 0 || random.nextInt(4) != 0 || key == ApiKey.FETCH) {
                    return Fault.NONE;
                }
                left[0]--;
                if (random.nextInt(6) == 0) {
                    cluster.moveLeader(
                            new TopicPartition("orders", random.nextInt(PARTITIONS)), random.nextInt(BROKERS));
                }
                Fault fault = KINDS.get(random.nextInt(KINDS.size()));
                return key == ApiKey.PRODUCE || fault.name().startsWith("DROP") ? fault : Fault.NONE;
            });
            Map<Integer, List<Acknowledged>> heard = new ConcurrentHashMap<>();
            // when threads send in all three ways
            try (Producer producer = Producer.builder()
                    .bootstrapServers(cluster.bootstrapServers())
                    .compression(seed % 2 == 0 ? CompressionCodec.LZ4 : CompressionCodec.NONE)
                    .batchSizeBytes(400)
                    .retryBackoff(Duration.ofMillis(1), Duration.ofMillis(20))
                    .reconnectBackoff(Duration.ofMillis(1), Duration.ofMillis(20))
                    .build()) {
                ProducerTest.run(6, thread -> heard.put(thread, send(producer, thread)));
            }
            // then
            for (int partition = 0; partition < PARTITIONS; partition++) {
                List<String> journal = cluster.values(new TopicPartition("orders", partition));
                assertThat(journal).as("seed " + seed).doesNotHaveDuplicates();
                for (List<Acknowledged> thread : heard.values()) {
                    checkThread(seed, partition, journal, thread);
                }
            }
            long acknowledged = heard.values().stream().mapToLong(List::size).sum();
            long appended = 0;
            for (int partition = 0; partition < PARTITIONS; partition++) {
                appended += cluster.endOffset(new TopicPartition("orders", partition));
            }
            assertThat(acknowledged).as("seed " + seed).isEqualTo(appended);
        }
    }

    private static void checkThread(long seed, int partition, List<String> journal, List<Acknowledged> thread) {
        Map<String, Integer> indexes = new HashMap<>();
        for (int i = 0; i < journal.size(); i++) {
            indexes.put(journal.get(i), i);
        }
        int last = -1;
        for (Acknowledged record : thread) {
            if (record.partition() == partition) {
                Integer index = indexes.get(record.value());
                assertThat(index)
                        .as("seed %d: %s is in the journal", seed, record)
                        .isNotNull();
                if (record.offset() >= 0) {
                    assertThat((long) index)
                            .as("seed %d: offset of %s", seed, record)
                            .isEqualTo(record.offset());
                }
                assertThat(index).as("seed %d: order of %s", seed, record).isGreaterThan(last);
                last = index;
            }
        }
    }

    /** Threads 0 and 1 send one by one, 2 and 3 asynchronously, the others batches. */
    private static List<Acknowledged> send(Producer producer, int thread) {
        List<Acknowledged> heard = new ArrayList<>();
        int partition = thread % PARTITIONS;
        if (thread < 2) {
            for (int i = 0; i < 150; i++) {
                String value = thread + ":" + i;
                heard.add(new Acknowledged(
                        partition,
                        value,
                        producer.send(record(partition, value)).offset()));
            }
            return heard;
        }
        List<CompletableFuture<Acknowledged>> results = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            String value = thread + ":" + i;
            if (thread < 4) {
                results.add(producer.sendAsync(record(partition, value))
                        .thenApply(where -> new Acknowledged(partition, value, where.offset())));
            } else {
                results.add(producer.sendBatch("orders", partition, List.of(record(partition, value)))
                        .thenApply(where -> new Acknowledged(partition, value, where.baseOffset())));
            }
            if (i % 50 == 49) {
                results.forEach(CompletableFuture::join);
            }
        }
        results.forEach(result -> heard.add(result.join()));
        return heard;
    }

    private static ProducerRecord record(int partition, String value) {
        return ProducerRecord.of("orders", partition, null, value.getBytes(UTF_8));
    }
}
