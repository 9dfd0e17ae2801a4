package io.journalq.server.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.broker.TestBroker;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kafka Streams counts words exactly once, while the broker and the program are restarted. */
class StreamsWordCountTest {
    private static final long LIMIT_SECONDS = 60;
    private static final int LINES = 60;
    private static final String[] WORDS = {"ape", "bee", "cat", "dog", "eel"};
    private static final List<TopicPartition> COUNTS =
            List.of(new TopicPartition("counts", 0), new TopicPartition("counts", 1));

    @TempDir
    Path directory;

    @Test
    void shouldCountEveryWordExactlyOnceWhenBrokerAndProgramAreRestarted() throws Exception {
        // given
        TestBroker broker = new TestBroker(directory.resolve("data"))
                .with("shards", "2")
                .with("group.initial.rebalance.delay.ms", "0")
                .with("transaction.state.log.num.partitions", "2")
                .with("offsets.topic.num.partitions", "2");
        try (broker) {
            broker.start();
            int port = broker.port();
            broker.createTopic("lines", 2, Map.of());
            broker.createTopic("counts", 2, Map.of());
            produce(broker, 0, LINES);

            // when
            try (KafkaStreams first = program(broker, "first")) {
                await(broker, LINES);
                broker.stop();
                broker.with("listeners", "PLAINTEXT://127.0.0.1:" + port).start();
                produce(broker, LINES, 2 * LINES);
                await(broker, 2 * LINES);
                close(first);
            }
            produce(broker, 2 * LINES, 3 * LINES);
            Map<String, List<Long>> counts;
            try (KafkaStreams second = program(broker, "second")) {
                counts = await(broker, 3 * LINES);
                close(second);
            }

            // then every word was counted up by one each time, in order
            for (String word : WORDS) {
                List<Long> expected = LongStream.rangeClosed(1, counts.get(word).size())
                        .boxed()
                        .toList();
                assertThat(counts.get(word)).as(word).isEqualTo(expected);
            }
        }
    }

    private static void produce(TestBroker broker, int from, int to) {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = from; i < to; i++) {
                byte[] line = line(i).getBytes(StandardCharsets.UTF_8);
                var unused = producer.send(new ProducerRecord<>("lines", i % 2, null, line));
            }
        }
    }

    private static String line(int number) {
        return WORDS[number % WORDS.length] + " " + WORDS[number / 3 % WORDS.length].toUpperCase(Locale.ROOT);
    }

    private KafkaStreams program(TestBroker broker, String name) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "word-count");
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker.bootstrap());
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, directory.resolve(name).toString());
        settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 50);
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put("auto.offset.reset", "earliest");
        KafkaStreams streams = new KafkaStreams(topology(), settings);
        streams.start();
        return streams;
    }

    /** Leaves the group, so that the next one need not wait for the session to end. */
    private static void close(KafkaStreams streams) {
        assertThat(streams.close(CloseOptions.timeout(Duration.ofSeconds(LIMIT_SECONDS))
                        .withGroupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)))
                .isTrue();
    }

    private static Topology topology() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream("lines")
                .flatMapValues(
                        line -> Arrays.asList(line.toLowerCase(Locale.ROOT).split(" ", -1)))
                .groupBy((key, word) -> word)
                .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("counts-by-word"))
                        .withKeySerde(Serdes.String())
                        .withValueSerde(Serdes.Long())
                        .withLoggingEnabled(Map.of("cleanup.policy", "delete", "retention.ms", "-1")))
                .toStream()
                .to("counts", Produced.with(Serdes.String(), Serdes.Long()));
        return builder.build();
    }

    /** Waits until the words of {@code lines} lines are counted; returns all counts of each word, in order. */
    private static Map<String, List<Long>> await(TestBroker broker, int lines) {
        int expected = IntStream.range(0, lines)
                .map(i -> line(i).split(" ", -1).length)
                .sum();
        Map<String, List<Long>> counts = new TreeMap<>();
        int seen = 0;
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        try (LongDeserializer values = new LongDeserializer();
                KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of("isolation.level", "read_committed"))) {
            consumer.assign(COUNTS);
            consumer.seekToBeginning(COUNTS);
            while (seen < expected) {
                assertThat(System.nanoTime())
                        .as("time left; %d of %d counts seen", seen, expected)
                        .isLessThan(deadlineNanos);
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    seen++;
                    counts.computeIfAbsent(new String(record.key(), StandardCharsets.UTF_8), word -> new ArrayList<>())
                            .add(values.deserialize("counts", record.value()));
                }
            }
        }
        return counts;
    }
}
