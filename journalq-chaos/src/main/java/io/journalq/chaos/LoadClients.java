package io.journalq.chaos;

import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.Producer;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Producers and consumers of the load, with the clients of JournalQ and Kafka. */
final class LoadClients {
    private static final int MOST_IN_FLIGHT = 500;
    static final Duration DELIVERY_TIMEOUT = Duration.ofMinutes(10);
    static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);
    static final int DELIVERY_TIMEOUT_MS = (int) DELIVERY_TIMEOUT.toMillis();
    private static final int REQUEST_TIMEOUT_MS = (int) REQUEST_TIMEOUT.toMillis();
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

    /** Starts an idempotent producer of the Kafka client. */
    static void produceWithKafka(ClientThreads load, int id, String topic, int partitions, String codec) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", load.servers());
        config.put("enable.idempotence", true);
        config.put("compression.type", codec);
        config.put("linger.ms", 2);
        config.put("delivery.timeout.ms", DELIVERY_TIMEOUT_MS);
        config.put("max.block.ms", DELIVERY_TIMEOUT_MS);
        config.put("request.timeout.ms", REQUEST_TIMEOUT_MS);
        config.put("reconnect.backoff.max.ms", 200);
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
    static void produceWithJournalQ(ClientThreads load, int id, String topic, int partitions, CompressionCodec codec) {
        Semaphore inFlight = new Semaphore(MOST_IN_FLIGHT);
        Numbers numbers = new Numbers(partitions);
        expect(load, id, topic, partitions);
        load.begin("journalq producer " + id, () -> {
            try (Producer producer = Producer.builder()
                    .bootstrapServers(load.servers())
                    .idempotent(true)
                    .compression(codec)
                    .linger(Duration.ofMillis(2))
                    .requestTimeout(REQUEST_TIMEOUT)
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

    /** Starts a group member of the Kafka client, which commits what it has read. */
    static void consumeWithKafka(
            ClientThreads load, String group, String protocol, String isolation, List<String> topics) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", load.servers());
        config.put("group.id", group);
        config.put("group.protocol", protocol);
        config.put("isolation.level", isolation);
        config.put("default.api.timeout.ms", DELIVERY_TIMEOUT_MS);
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", true);
        config.put("auto.commit.interval.ms", 100);
        config.put("reconnect.backoff.max.ms", 200);
        load.begin("kafka consumer in " + group, () -> {
            try (KafkaConsumer<byte[], byte[]> consumer =
                    new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                consumer.subscribe(topics);
                while (!load.isStopping()) {
                    consumer.poll(POLL).forEach(record -> {
                        load.onConsumed(1);
                        check(load, record.topic(), record.partition(), record.offset(), record.value());
                    });
                }
            }
        });
    }

    /** Starts a group member of the JournalQ client, which commits what it has read. */
    static void consumeWithJournalQ(
            ClientThreads load, String group, Consumer.Isolation isolation, List<String> topics) {
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
                        check(load, record.topic(), record.partition(), record.offset(), record.value());
                    }
                }
            }
        });
    }

    private static void check(ClientThreads load, String topic, int partition, long offset, byte[] value) {
        if (Payload.decode(value) == null) {
            load.ledger()
                    .report(topic + "-" + partition + " offset " + offset + " holds a record that no producer sent");
        }
    }

    /** Reads every partition from its beginning to its end. */
    static void readEverything(Ledger ledger, String servers, List<TopicPartition> partitions) {
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
