package io.journalq.server.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.Producer;
import io.journalq.client.admin.ConfigChange;
import io.journalq.client.admin.ConfigEntry;
import io.journalq.client.admin.ConfigResource;
import io.journalq.client.admin.LogDirDescription;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.admin.TopicListing;
import io.journalq.client.error.TopicExistsException;
import io.journalq.client.error.UnknownTopicException;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.broker.TestBroker;
import io.journalq.server.process.LoopbackPorts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The client against the real broker. */
@Timeout(120)
final class ClientAndBrokerTest {
    private static final Duration LONG = Duration.ofSeconds(10);

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(CompressionCodec.class)
    void shouldReadBackWhatManyThreadsWrote(CompressionCodec codec) throws Exception {
        try (TestBroker broker = new TestBroker(directory).start()) {
            createTopic(broker, "orders", 8);
            Map<String, RecordMetadata> acknowledged = new HashMap<>();
            // when
            try (Producer producer = Producer.builder()
                    .bootstrapServers(broker.bootstrap())
                    .compression(codec)
                    .build()) {
                List<CompletableFuture<Map<String, RecordMetadata>>> threads = new ArrayList<>();
                for (int i = 0; i < 16; i++) {
                    int thread = i;
                    threads.add(CompletableFuture.supplyAsync(() -> send(producer, thread, 200), this::startThread));
                }
                for (CompletableFuture<Map<String, RecordMetadata>> thread : threads) {
                    acknowledged.putAll(thread.get(60, TimeUnit.SECONDS));
                }
            }
            // then
            assertThat(acknowledged).hasSize(16 * 200);
            List<ConsumerRecord> records = readAll(broker, "orders", acknowledged.size());
            assertThat(records).hasSameSizeAs(acknowledged.keySet());
            for (ConsumerRecord record : records) {
                RecordMetadata where = acknowledged.get(new String(record.value(), UTF_8));
                assertThat(record.offset()).isEqualTo(where.offset());
                assertThat(record.partition()).isEqualTo(where.partition());
                assertThat(record.timestampMs()).isEqualTo(where.timestampMs());
            }
        }
    }

    @Test
    void shouldLoseAndRepeatNothingWhenTheBrokerRestartsUnderTheProducer() throws Exception {
        int port = LoopbackPorts.next();
        try (TestBroker broker = new TestBroker(directory)
                .with("listeners", "PLAINTEXT://127.0.0.1:" + port)
                .start()) {
            createTopic(broker, "orders", 4);
            AtomicBoolean stop = new AtomicBoolean();
            Queue<String> acknowledged = new ConcurrentLinkedQueue<>();
            try (Producer producer = Producer.builder()
                    .bootstrapServers(broker.bootstrap())
                    .reconnectBackoff(Duration.ofMillis(10), Duration.ofMillis(100))
                    .build()) {
                List<CompletableFuture<Void>> threads = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    int thread = i;
                    threads.add(CompletableFuture.runAsync(
                            () -> sendUntil(stop, producer, thread, acknowledged), this::startThread));
                }
                // when
                for (int restart = 0; restart < 3; restart++) {
                    Thread.sleep(300);
                    broker.stop();
                    broker.start();
                }
                Thread.sleep(300);
                stop.set(true);
                for (CompletableFuture<Void> thread : threads) {
                    thread.get(60, TimeUnit.SECONDS);
                }
            }
            // then
            List<String> values = new ArrayList<>();
            readAll(broker, "orders", acknowledged.size())
                    .forEach(record -> values.add(new String(record.value(), UTF_8)));
            assertThat(values).doesNotHaveDuplicates();
            assertThat(new HashSet<>(values)).isEqualTo(new HashSet<>(acknowledged));
        }
    }

    @Test
    void shouldSendToAPartitionThatWasJustAdded() throws Exception {
        try (TestBroker broker = new TestBroker(directory).start();
                Admin admin =
                        Admin.builder().bootstrapServers(broker.bootstrap()).build();
                Producer producer =
                        Producer.builder().bootstrapServers(broker.bootstrap()).build()) {
            admin.createTopic(NewTopic.of("orders", 1));
            producer.send(ProducerRecord.builder("orders").partition(0).build());
            // when
            admin.createPartitions("orders", 3);
            long offset = producer.send(
                            ProducerRecord.builder("orders").partition(2).build())
                    .offset();
            // then
            assertThat(offset).isZero();
            assertThatThrownBy(() -> producer.send(
                            ProducerRecord.builder("orders").partition(3).build()))
                    .isInstanceOf(UnknownTopicException.class)
                    .hasMessageContaining("it has 3");
            // and a stage, on the thread that receives metadata, does not wait for them
            CompletableFuture<RecordMetadata> nowhere = producer.sendAsync(
                            ProducerRecord.builder("orders").partition(0).build())
                    .thenCompose(sent -> producer.sendAsync(
                            ProducerRecord.builder("orders").partition(3).build()));
            assertThat(nowhere)
                    .failsWithin(Duration.ofSeconds(5))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(UnknownTopicException.class);
        }
    }

    @Test
    void shouldAdministerTopicsConfigsAndOffsets() throws Exception {
        try (TestBroker broker = new TestBroker(directory).start();
                Admin admin =
                        Admin.builder().bootstrapServers(broker.bootstrap()).build()) {
            // topics
            admin.createTopic(NewTopic.of("orders", 3).withConfig("retention.ms", "60000"));
            assertThatThrownBy(() -> admin.createTopic(NewTopic.of("orders", 3)))
                    .isInstanceOf(TopicExistsException.class);
            assertThat(admin.listTopics()).extracting(TopicListing::name).containsExactly("orders");
            admin.createPartitions("orders", 5);
            assertThat(admin.describeTopics(List.of("orders")).get("orders").partitions())
                    .hasSize(5);
            assertThatThrownBy(() -> describeMissing(broker)).isInstanceOf(UnknownTopicException.class);
            // configs
            ConfigResource orders = ConfigResource.topic("orders");
            admin.alterConfigs(orders, List.of(ConfigChange.set("retention.bytes", "12345")));
            assertThat(admin.describeConfigs(List.of(orders)).get(orders))
                    .filteredOn(config -> config.source() == ConfigEntry.Source.DYNAMIC_TOPIC_CONFIG)
                    .extracting(ConfigEntry::name)
                    .containsExactlyInAnyOrder("retention.bytes", "retention.ms");
            // offsets
            TopicPartition first = new TopicPartition("orders", 0);
            try (Producer producer =
                    Producer.builder().bootstrapServers(broker.bootstrap()).build()) {
                for (int i = 0; i < 10; i++) {
                    producer.send(ProducerRecord.builder("orders")
                            .partition(0)
                            .timestampMs(1_000L + i)
                            .build());
                }
            }
            assertThat(admin.deleteRecords(Map.of(first, 4L))).isEqualTo(Map.of(first, 4L));
            assertThat(admin.listOffsets(Map.of(first, OffsetSpec.earliest()))
                            .get(first)
                            .offset())
                    .isEqualTo(4);
            assertThat(admin.listOffsets(Map.of(first, OffsetSpec.latest()))
                            .get(first)
                            .offset())
                    .isEqualTo(10);
            assertThat(admin.listOffsets(Map.of(first, OffsetSpec.atOrAfter(1_007)))
                            .get(first)
                            .offset())
                    .isEqualTo(7);
            assertThat(admin.listOffsets(Map.of(first, OffsetSpec.atOrAfter(5_000)))
                            .get(first)
                            .found())
                    .isFalse();
            // cluster
            assertThat(admin.describeCluster().brokers()).hasSize(1);
            List<LogDirDescription> directories = admin.describeLogDirs();
            assertThat(directories).hasSize(1);
            assertThat(directories.get(0).partitionSizesBytes()).containsKey(first);
            admin.deleteTopics(Set.of("orders"));
            assertThat(admin.listTopics()).isEmpty();
        }
    }

    @Test
    void shouldSeekByTimeAndFollowTheTail() throws Exception {
        try (TestBroker broker = new TestBroker(directory).start()) {
            createTopic(broker, "orders", 1);
            TopicPartition first = new TopicPartition("orders", 0);
            try (Producer producer = Producer.builder()
                            .bootstrapServers(broker.bootstrap())
                            .build();
                    Consumer consumer = Consumer.builder()
                            .bootstrapServers(broker.bootstrap())
                            .build()) {
                for (int i = 0; i < 100; i++) {
                    producer.send(ProducerRecord.builder("orders")
                            .timestampMs(1_000L + i)
                            .build());
                }
                consumer.assign(List.of(first));
                consumer.seekToTime(List.of(first), 1_042);
                assertThat(consumer.position(first)).isEqualTo(42);
                assertThat(consumer.poll(LONG).iterator().next().offset()).isEqualTo(42);
                consumer.seekToEnd(List.of(first));
                for (int i = 0; i < 50; i++) {
                    long offset = producer.send(ProducerRecord.of("orders", new byte[] {1}))
                            .offset();
                    assertThat(consumer.poll(LONG).iterator().next().offset()).isEqualTo(offset);
                }
            }
        }
    }

    private static void describeMissing(TestBroker broker) {
        try (Admin admin = Admin.builder()
                .bootstrapServers(broker.bootstrap())
                .callTimeout(Duration.ofMillis(500))
                .build()) {
            admin.describeTopics(List.of("nothing"));
        }
    }

    private void startThread(Runnable body) {
        new Thread(body, "sender").start();
    }

    private static void createTopic(TestBroker broker, String name, int partitionCount) {
        try (Admin admin = Admin.builder().bootstrapServers(broker.bootstrap()).build()) {
            admin.createTopic(NewTopic.of(name, partitionCount));
        }
    }

    /** Half one by one, half asynchronously. */
    private static Map<String, RecordMetadata> send(Producer producer, int thread, int count) {
        Map<String, RecordMetadata> acknowledged = new HashMap<>();
        Map<String, CompletableFuture<RecordMetadata>> results = new HashMap<>();
        for (int i = 0; i < count; i++) {
            String value = "the value of thread " + thread + " number " + i;
            ProducerRecord record = ProducerRecord.of("orders", value.getBytes(UTF_8));
            if (thread % 2 == 0) {
                acknowledged.put(value, producer.send(record));
            } else {
                results.put(value, producer.sendAsync(record));
            }
        }
        results.forEach((value, result) -> acknowledged.put(value, result.join()));
        return acknowledged;
    }

    private static void sendUntil(AtomicBoolean stop, Producer producer, int thread, Queue<String> acknowledged) {
        for (int i = 0; !stop.get(); i++) {
            String value = thread + ":" + i;
            producer.send(ProducerRecord.of("orders", thread % 4, null, value.getBytes(UTF_8)));
            acknowledged.add(value);
        }
    }

    private static List<ConsumerRecord> readAll(TestBroker broker, String topic, int count) {
        List<ConsumerRecord> records = new ArrayList<>();
        try (Consumer consumer = Consumer.builder()
                .bootstrapServers(broker.bootstrap())
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(consumer.partitionsOf(topic));
            while (records.size() < count) {
                int before = records.size();
                consumer.poll(LONG).forEach(records::add);
                assertThat(records.size()).as("nothing came for " + LONG).isGreaterThan(before);
            }
            consumer.poll(Duration.ofMillis(200)).forEach(records::add);
        }
        return records;
    }
}
