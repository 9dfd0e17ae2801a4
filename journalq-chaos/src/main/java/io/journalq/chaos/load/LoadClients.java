package io.journalq.chaos.load;

import io.journalq.client.Acks;
import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.Producer;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Producers and consumers of the load, with the clients of JournalQ and Kafka. */
public final class LoadClients {
    private static final int MOST_IN_FLIGHT = 500;
    static final Duration DELIVERY_TIMEOUT = Duration.ofMinutes(10);
    /** For brokers that do not fail over. */
    public static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

    static final int DELIVERY_TIMEOUT_MS = (int) DELIVERY_TIMEOUT.toMillis();
    /** Prints the partition and the number of each acknowledged message. */
    private static final String LIBRDKAFKA_PROGRAM = "librdkafka_producer.py";

    private static final String LIBRDKAFKA_FAILED = "failed ";
    private static final Duration POLL = Duration.ofMillis(200);

    private LoadClients() {}

    /** Assigns numbers to the messages of one producer, and rotates through the partitions of its topic. */
    private static final class Numbers {
        private final long[] next;
        private int turn;

        Numbers(int partitions) {
            next = new long[partitions];
        }

        int partition() {
            turn = (turn + 1) % next.length;
            return turn;
        }

        long next(int partition) {
            return next[partition]++;
        }
    }

    /** The settings of each Kafka client that lives through faults. */
    static Map<String, Object> kafkaSettings(ClientThreads load) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", load.servers());
        settings.put("reconnect.backoff.max.ms", 200);
        return settings;
    }

    /** Starts a producer of the Kafka client. It is idempotent with {@link Acks#ALL}. */
    public static void produceWithKafka(
            ClientThreads load, int id, String topic, int partitions, CompressionCodec codec, Acks acks) {
        Map<String, Object> config = kafkaSettings(load);
        config.put("acks", acks == Acks.ALL ? "all" : "1");
        config.put("enable.idempotence", acks == Acks.ALL);
        config.put("compression.type", codec.name().toLowerCase(Locale.ROOT));
        config.put("linger.ms", 2);
        config.put("delivery.timeout.ms", DELIVERY_TIMEOUT_MS);
        config.put("max.block.ms", DELIVERY_TIMEOUT_MS);
        config.put("request.timeout.ms", (int) load.requestTimeout().toMillis());
        Semaphore inFlight = new Semaphore(MOST_IN_FLIGHT);
        Numbers numbers = new Numbers(partitions);
        expect(load, id, topic, partitions);
        load.begin("kafka producer " + id, () -> {
            try (KafkaProducer<byte[], byte[]> producer =
                    new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
                while (!load.isStopping()) {
                    int partition = numbers.partition();
                    long number = numbers.next(partition);
                    inFlight.acquire();
                    byte[] value = new Payload(id, number).encode();
                    var unused = producer.send(
                            new org.apache.kafka.clients.producer.ProducerRecord<>(topic, partition, null, value),
                            (metadata, failure) -> {
                                inFlight.release();
                                onSent(load, topic, partition, id, number, failure);
                            });
                    load.pause();
                }
                producer.flush();
            }
        });
    }

    /** Starts an idempotent producer of the JournalQ client. */
    public static void produceWithJournalQ(
            ClientThreads load, int id, String topic, int partitions, CompressionCodec codec, Acks acks) {
        Semaphore inFlight = new Semaphore(MOST_IN_FLIGHT);
        Numbers numbers = new Numbers(partitions);
        expect(load, id, topic, partitions);
        load.begin("journalq producer " + id, () -> {
            try (Producer producer = Producer.builder()
                    .bootstrapServers(load.servers())
                    .acks(acks)
                    .idempotent(true)
                    .compression(codec)
                    .linger(Duration.ofMillis(2))
                    .requestTimeout(load.requestTimeout())
                    .deliveryTimeout(DELIVERY_TIMEOUT)
                    .callTimeout(DELIVERY_TIMEOUT)
                    .build()) {
                while (!load.isStopping()) {
                    int partition = numbers.partition();
                    long number = numbers.next(partition);
                    inFlight.acquire();
                    byte[] value = new Payload(id, number).encode();
                    var unused = producer.sendAsync(ProducerRecord.of(topic, partition, null, value))
                            .whenComplete((metadata, failure) -> {
                                inFlight.release();
                                onSent(load, topic, partition, id, number, failure);
                            });
                    load.pause();
                }
                producer.flush();
            }
        });
    }

    /**
     * Starts a producer of librdkafka, with acks=all, in a process of its own.
     *
     * @param python has confluent-kafka
     * @param idempotent whether the producer is; a loss that the mode allows ends an idempotent one
     */
    public static void produceWithLibrdkafka(
            ClientThreads load, int id, String topic, int partitions, Path python, boolean idempotent) {
        expect(load, id, topic, partitions);
        load.begin("librdkafka producer " + id, () -> {
            String program;
            try (InputStream in = LoadClients.class.getResourceAsStream(LIBRDKAFKA_PROGRAM)) {
                program = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            }
            Process process = new ProcessBuilder(
                            python.toString(),
                            "-c",
                            program,
                            load.servers(),
                            topic,
                            Integer.toString(partitions),
                            Integer.toString(id),
                            Long.toString(load.pauseMs()),
                            Long.toString(load.requestTimeout().toMillis()),
                            Boolean.toString(idempotent))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            load.begin("end of librdkafka producer " + id, () -> {
                while (!load.isStopping()) {
                    load.pause();
                }
                process.getOutputStream().close();
            });
            try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    onLineOfLibrdkafka(load, topic, id, line);
                }
            } finally {
                process.destroyForcibly();
            }
            if (!load.isStopping()) {
                throw new IOException("its process ended with exit code " + process.waitFor());
            }
        });
    }

    private static void onLineOfLibrdkafka(ClientThreads load, String topic, int id, String line) {
        if (line.startsWith(LIBRDKAFKA_FAILED)) {
            if (!load.isStopping()) {
                load.ledger().report("librdkafka producer " + id + " cannot send to " + topic + ": " + line);
            }
            return;
        }
        int space = line.indexOf(' ');
        load.ledger()
                .onAcknowledged(topic + "-" + line.substring(0, space), id, Long.parseLong(line.substring(space + 1)));
    }

    /** All partitions of a topic. */
    public static List<TopicPartition> partitions(String topic, int count) {
        return IntStream.range(0, count)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .toList();
    }

    private static void expect(ClientThreads load, int id, String topic, int partitions) {
        for (int i = 0; i < partitions; i++) {
            load.ledger().onProducing(topic + "-" + i, id);
        }
    }

    private static void onSent(
            ClientThreads load, String topic, int partition, int id, long number, Throwable failure) {
        if (failure == null) {
            load.ledger().onAcknowledged(topic + "-" + partition, id, number);
        } else if (!load.isStopping()) {
            load.ledger().report("producer " + id + " cannot send number " + number + " to " + topic + ": " + failure);
        }
    }

    /**
     * Starts a group member of the Kafka client, which commits what it has read. What groups without the isolation
     * read_committed have read is compared with the messages of the producers.
     */
    public static void consumeWithKafka(
            ClientThreads load, String group, String protocol, String isolation, List<String> topics) {
        Map<String, Object> config = kafkaSettings(load);
        config.put("group.id", group);
        config.put("group.protocol", protocol);
        config.put("isolation.level", isolation);
        config.put("default.api.timeout.ms", DELIVERY_TIMEOUT_MS);
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", true);
        config.put("auto.commit.interval.ms", 100);
        String checked = isolation.equals("read_uncommitted") ? group : null;
        load.begin("kafka consumer in " + group, () -> {
            try (KafkaConsumer<byte[], byte[]> consumer =
                    new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                consumer.subscribe(topics);
                while (!load.isStopping()) {
                    consumer.poll(POLL).forEach(record -> {
                        load.onConsumed(1);
                        check(load, checked, record.topic(), record.partition(), record.offset(), record.value());
                    });
                }
            }
        });
    }

    /** The same with the JournalQ client. */
    public static void consumeWithJournalQ(
            ClientThreads load, String group, Consumer.Isolation isolation, List<String> topics) {
        String checked = isolation == Consumer.Isolation.READ_UNCOMMITTED ? group : null;
        load.begin("journalq consumer in " + group, () -> {
            try (Consumer consumer = Consumer.builder()
                    .bootstrapServers(load.servers())
                    .groupId(group)
                    .callTimeout(DELIVERY_TIMEOUT)
                    .isolation(isolation)
                    .startAt(Consumer.Start.BEGINNING)
                    .autoCommit(true)
                    .autoCommitInterval(Duration.ofMillis(100))
                    .build()) {
                consumer.subscribe(topics);
                while (!load.isStopping()) {
                    for (ConsumerRecord record : consumer.poll(POLL)) {
                        load.onConsumed(1);
                        check(load, checked, record.topic(), record.partition(), record.offset(), record.value());
                    }
                }
            }
        });
    }

    /** @param group null if it does not read all records */
    private static void check(
            ClientThreads load, String group, String topic, int partition, long offset, byte[] value) {
        Payload message = Payload.decode(value);
        if (message == null) {
            load.ledger()
                    .report(topic + "-" + partition + " offset " + offset + " holds a record that no producer sent");
        } else if (group != null) {
            load.ledger().onRead(group, topic + "-" + partition, message);
        }
    }

    /** Reads every partition from its beginning to its end. */
    public static void readEverything(Ledger ledger, String servers, List<TopicPartition> partitions) {
        ledger.beginReading();
        try (Consumer consumer = Consumer.builder()
                .bootstrapServers(servers)
                .callTimeout(DELIVERY_TIMEOUT)
                .build()) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (partitions.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition))) {
                for (ConsumerRecord record : consumer.poll(POLL)) {
                    ledger.onFound(record.topic() + "-" + record.partition(), record.offset(), record.value());
                }
            }
        }
        ledger.endReading();
    }
}
