package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Produce and Fetch, with Kafka's own clients. */
class ProduceAndFetchTest {
    private static final long SECONDS = 20;

    @TempDir
    private Path dataDirectory;

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"none", "gzip", "snappy", "lz4", "zstd"})
    void shouldGiveBackWhatWasProducedInEveryCodec(String codec) throws Exception {
        try (TestBroker broker = new TestBroker(dataDirectory).start()) {
            // given records with keys, headers and timestamps
            broker.createTopic("t", 1, Map.of());
            try (KafkaProducer<byte[], byte[]> producer =
                    broker.producer(Map.of("compression.type", codec, "linger.ms", 5))) {
                List<Future<RecordMetadata>> sent = new ArrayList<>();
                for (int i = 0; i < 1_000; i++) {
                    ProducerRecord<byte[], byte[]> record =
                            new ProducerRecord<>("t", 0, 1_000_000L + i, bytes("key" + i), bytes("value" + i));
                    record.headers().add("h", bytes("header" + i));
                    sent.add(producer.send(record));
                }
                for (Future<RecordMetadata> future : sent) {
                    future.get(SECONDS, TimeUnit.SECONDS);
                }
            }
            // when they are read back, then nothing is missing, changed or out of order
            List<ConsumerRecord<byte[], byte[]>> records = broker.readAll(partitions("t", 1), 1_000);
            assertThat(records).hasSize(1_000);
            for (int i = 0; i < 1_000; i++) {
                ConsumerRecord<byte[], byte[]> record = records.get(i);
                assertThat(record.offset()).isEqualTo(i);
                assertThat(record.timestamp()).isEqualTo(1_000_000L + i);
                assertThat(record.key()).isEqualTo(bytes("key" + i));
                assertThat(record.value()).isEqualTo(bytes("value" + i));
                assertThat(record.headers().lastHeader("h").value()).isEqualTo(bytes("header" + i));
            }
        }
    }

    @ParameterizedTest(name = "shards {0}")
    @ValueSource(ints = {1, 3})
    void shouldKeepEveryPartitionsOrderWhenManyProducersWriteToManyPartitions(int shards) throws Exception {
        try (TestBroker broker = new TestBroker(dataDirectory)
                .with("shards", String.valueOf(shards))
                .start()) {
            // given 20 partitions, and four idempotent producers that each write to all of them
            broker.createTopic("many", 20, Map.of());
            int producers = 4;
            int perProducer = 5_000;
            List<Thread> threads = new ArrayList<>();
            List<Throwable> failures = new ArrayList<>();
            for (int p = 0; p < producers; p++) {
                int number = p;
                Thread thread = new Thread(() -> {
                    try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("batch.size", 2_000))) {
                        List<Future<RecordMetadata>> sent = new ArrayList<>();
                        for (int i = 0; i < perProducer; i++) {
                            sent.add(
                                    producer.send(new ProducerRecord<>("many", i % 20, null, bytes(number + ":" + i))));
                        }
                        for (Future<RecordMetadata> future : sent) {
                            future.get(SECONDS, TimeUnit.SECONDS);
                        }
                    } catch (Exception failure) {
                        synchronized (failures) {
                            failures.add(failure);
                        }
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failures).isEmpty();
            // when everything is read
            List<ConsumerRecord<byte[], byte[]>> records =
                    broker.readAll(partitions("many", 20), producers * perProducer);
            // then each producer's records are there once, in order within each partition
            assertThat(records).hasSize(producers * perProducer);
            Map<String, Integer> lastByProducerAndPartition = new HashMap<>();
            for (ConsumerRecord<byte[], byte[]> record : records) {
                String[] parts = new String(record.value(), UTF_8).split(":", -1);
                String key = parts[0] + "-" + record.partition();
                int number = Integer.parseInt(parts[1]);
                assertThat(number).isGreaterThan(lastByProducerAndPartition.getOrDefault(key, -1));
                lastByProducerAndPartition.put(key, number);
            }
        }
    }

    @ParameterizedTest(name = "acks {0}")
    @ValueSource(strings = {"0", "1", "all"})
    void shouldServeEveryKindOfAcknowledgement(String acks) throws Exception {
        try (TestBroker broker = new TestBroker(dataDirectory).start()) {
            broker.createTopic("t", 1, Map.of());
            try (KafkaProducer<byte[], byte[]> producer =
                    broker.producer(Map.of("acks", acks, "enable.idempotence", false))) {
                for (int i = 0; i < 100; i++) {
                    RecordMetadata metadata = producer.send(new ProducerRecord<>("t", bytes("v" + i)))
                            .get(SECONDS, TimeUnit.SECONDS);
                    assertThat(metadata.offset()).isEqualTo(acks.equals("0") ? -1 : i);
                }
            }
            assertThat(broker.readAll(partitions("t", 1), 100)).hasSize(100);
        }
    }

    @Test
    void shouldCarryBatchesOfManyMebibytes() throws Exception {
        try (TestBroker broker = new TestBroker(dataDirectory).start()) {
            // given a topic that accepts large messages, and incompressible ones of 8 MB
            broker.createTopic("large", 2, Map.of("max.message.bytes", "20000000"));
            byte[] value = new byte[8_000_000];
            new Random(1).nextBytes(value);
            try (KafkaProducer<byte[], byte[]> producer = broker.producer(
                    Map.of("max.request.size", 20_000_000, "buffer.memory", 64_000_000L, "compression.type", "lz4"))) {
                for (int i = 0; i < 6; i++) {
                    var unused = producer.send(new ProducerRecord<>("large", i % 2, null, value))
                            .get(SECONDS, TimeUnit.SECONDS);
                }
            }
            // then they are returned although they exceed the consumer's own limits
            List<ConsumerRecord<byte[], byte[]>> records = broker.readAll(partitions("large", 2), 6);
            assertThat(records).hasSize(6).allSatisfy(record -> assertThat(record.value())
                    .isEqualTo(value));
        }
    }

    @Test
    void shouldWakeAWaitingConsumerWhenARecordArrives() throws Exception {
        try (TestBroker broker =
                new TestBroker(dataDirectory).with("shards", "2").start()) {
            broker.createTopic("t", 4, Map.of());
            try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("linger.ms", 0));
                    KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of("fetch.max.wait.ms", 60_000))) {
                consumer.assign(partitions("t", 4));
                consumer.seekToBeginning(consumer.assignment());
                consumer.poll(Duration.ofMillis(300));
                List<Long> latenciesMs = new ArrayList<>();
                for (int i = 0; i < 40; i++) {
                    // given a consumer whose fetch waits up to a minute
                    Thread.sleep(5);
                    long startNanos = System.nanoTime();
                    // when a record is produced
                    var unused = producer.send(new ProducerRecord<>("t", i % 4, null, bytes("v" + i)));
                    // then the consumer receives it at once
                    assertThat(consumer.poll(Duration.ofSeconds(30)).count()).isEqualTo(1);
                    latenciesMs.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
                }
                latenciesMs.sort(null);
                assertThat(latenciesMs.get(20)).as("median latency in ms").isLessThan(5_000);
            }
        }
    }

    @Test
    void shouldKeepRecordsAndGoOnAtTheNextOffsetWhenItIsStoppedAndStarted() throws Exception {
        try (TestBroker broker = new TestBroker(dataDirectory)) {
            for (int run = 0; run < 3; run++) {
                broker.start();
                if (run == 0) {
                    broker.createTopic("kept", 3, Map.of("segment.bytes", "20000"));
                }
                try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
                    for (int i = 0; i < 300; i++) {
                        var unused = producer.send(new ProducerRecord<>("kept", i % 3, null, new byte[500]));
                    }
                }
                List<ConsumerRecord<byte[], byte[]>> records = broker.readAll(partitions("kept", 3), 300 * (run + 1));
                assertThat(records).hasSize(300 * (run + 1));
                broker.stop();
            }
        }
    }

    private static List<TopicPartition> partitions(String topic, int count) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            partitions.add(new TopicPartition(topic, i));
        }
        return partitions;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }
}
