package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.Acks;
import io.journalq.client.Consumer;
import io.journalq.client.Producer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three brokers in processes of their own stop and start one after the other, while clients with their default settings
 * send and read. No call of an application fails, but for {@link KafkaClientFaults}.
 */
@Tag("long")
@Timeout(1_800)
class ClusterRollingRestartTest {
    private static final int BROKERS = 3;
    private static final int PARTITIONS = 6;
    private static final int PAUSE_MS = 5;
    private static final int STOP_SECONDS = 180;
    private static final String TOPIC = "orders";

    private final List<Work> works = new ArrayList<>();
    private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    /** What applications were told. */
    private final ConcurrentLinkedQueue<String> errors = new ConcurrentLinkedQueue<>();

    private ProcessCluster cluster;

    @TempDir
    Path directory;

    @RegisterExtension
    final BrokerLogs logs = new BrokerLogs(() -> directory);

    @BeforeEach
    void startThree() throws Exception {
        cluster = new ProcessCluster(directory);
        cluster.startAll(BROKERS);
        try (Admin admin = cluster.admin()) {
            NewTopic topic = new NewTopic(TOPIC, PARTITIONS, (short) BROKERS)
                    .configs(Map.of("delivery.mode", "eventual", "min.insync.replicas", "2"));
            admin.createTopics(List.of(topic)).all().get(180, TimeUnit.SECONDS);
        }
    }

    @AfterEach
    void close() throws InterruptedException {
        for (Work work : works) {
            work.end();
        }
        cluster.close();
    }

    /** Does one step after the other until it ends. A failure is what an application would see. */
    private abstract class Work extends Thread {
        private volatile boolean ended;

        Work(String name) {
            super(name);
            setDaemon(true);
            works.add(this);
        }

        abstract void step() throws Exception;

        abstract void closeClient() throws Exception;

        void onError(Throwable failure) {
            errors.add(getName() + ": " + failure);
        }

        @Override
        public void run() {
            while (!ended) {
                try {
                    step();
                } catch (Exception | AssertionError failure) {
                    onError(failure);
                }
            }
            try {
                closeClient();
            } catch (Exception failure) {
                onError(failure);
            }
        }

        void end() throws InterruptedException {
            ended = true;
            join(TimeUnit.SECONDS.toMillis(120));
        }
    }

    private final class KafkaFeed extends Work {
        private final KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", cluster.bootstrapServers()),
                new StringSerializer(),
                new StringSerializer());
        private int number;

        KafkaFeed() {
            super("kafka-producer");
        }

        @Override
        void step() throws Exception {
            String value = "kafka-" + number++;
            var unused =
                    producer.send(new ProducerRecord<>(TOPIC, number % PARTITIONS, null, value), (sent, failure) -> {
                        if (failure == null) {
                            acknowledged.add(value);
                        } else {
                            onError(failure);
                        }
                    });
            Thread.sleep(PAUSE_MS);
        }

        @Override
        void closeClient() {
            producer.close();
        }
    }

    private final class OwnFeed extends Work {
        private final Producer producer = Producer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .acks(Acks.ALL)
                .build();
        private int number;

        OwnFeed() {
            super("journalq-producer");
        }

        @Override
        void step() throws Exception {
            String value = "journalq-" + number++;
            var unused = producer.sendAsync(
                            io.journalq.client.record.ProducerRecord.of(TOPIC, value.getBytes(StandardCharsets.UTF_8)))
                    .whenComplete((sent, failure) -> {
                        if (failure == null) {
                            acknowledged.add(value);
                        } else {
                            onError(failure);
                        }
                    });
            Thread.sleep(PAUSE_MS);
        }

        @Override
        void closeClient() {
            producer.close();
        }
    }

    private final class KafkaReader extends Work {
        private final Set<String> read = ConcurrentHashMap.newKeySet();
        private final String protocol;
        private KafkaConsumer<String, String> consumer;

        KafkaReader(String protocol) {
            super("kafka-" + protocol);
            this.protocol = protocol;
            subscribe();
        }

        private void subscribe() {
            consumer = new KafkaConsumer<>(
                    Map.of(
                            "bootstrap.servers",
                            cluster.bootstrapServers(),
                            "group.id",
                            getName(),
                            "group.protocol",
                            protocol,
                            "auto.offset.reset",
                            "earliest",
                            "enable.auto.commit",
                            false),
                    new StringDeserializer(),
                    new StringDeserializer());
            consumer.subscribe(List.of(TOPIC));
        }

        @Override
        void step() {
            boolean[] found = {false};
            try {
                consumer.poll(Duration.ofMillis(200)).forEach(record -> {
                    read.add(record.value());
                    found[0] = true;
                });
            } catch (IllegalStateException failure) {
                if (!KafkaClientFaults.isLeaderRace(protocol, failure)) {
                    throw failure;
                }
                consumer.close();
                subscribe();
            }
            if (found[0]) {
                consumer.commitSync();
            }
        }

        @Override
        void closeClient() {
            consumer.close();
        }
    }

    private final class OwnReader extends Work {
        private final Set<String> read = ConcurrentHashMap.newKeySet();
        private final Consumer consumer = Consumer.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .groupId("journalq")
                .autoCommit(false)
                .startAt(Consumer.Start.BEGINNING)
                .build();

        OwnReader() {
            super("journalq-consumer");
            consumer.subscribe(List.of(TOPIC));
        }

        @Override
        void step() {
            boolean[] found = {false};
            consumer.poll(Duration.ofMillis(200)).forEach(record -> {
                read.add(new String(record.value(), StandardCharsets.UTF_8));
                found[0] = true;
            });
            if (found[0]) {
                consumer.commit();
            }
        }

        @Override
        void closeClient() {
            consumer.close();
        }
    }

    /** What the guide tells to wait for between two brokers. */
    private void awaitInSync() throws Exception {
        ProcessCluster.await("all replicas in sync", () -> {
            try (Admin admin = cluster.admin()) {
                Set<String> topics = new TreeSet<>(admin.listTopics().names().get(10, TimeUnit.SECONDS));
                topics.addAll(List.of(TOPIC, "__consumer_offsets"));
                return admin.describeTopics(topics).allTopicNames().get(10, TimeUnit.SECONDS).values().stream()
                        .flatMap(topic -> topic.partitions().stream())
                        .allMatch(partition ->
                                partition.leader() != null && partition.isr().size() == BROKERS);
            }
        });
    }

    @Test
    void shouldShowNoErrorToApplicationsWhenBrokersRestartOneAfterTheOther() throws Exception {
        // given load
        KafkaReader classic = new KafkaReader("classic");
        KafkaReader next = new KafkaReader("consumer");
        OwnReader own = new OwnReader();
        new KafkaFeed();
        new OwnFeed();
        works.forEach(Thread::start);
        ProcessCluster.await("records", () -> own.read.size() > 100 && classic.read.size() > 100);
        awaitInSync();

        // when
        for (int id = 1; id <= BROKERS; id++) {
            assertThat(cluster.stop(id, STOP_SECONDS)).as("broker %d stops", id).isTrue();
            cluster.start(id);
            awaitInSync();
        }

        // then all goes on
        int before = acknowledged.size();
        ProcessCluster.await("more records", () -> acknowledged.size() > before + 200);
        for (Work work : works) {
            if (work.getName().endsWith("producer")) {
                work.end();
            }
        }
        Set<String> expected = new TreeSet<>(acknowledged);
        for (Set<String> read : List.of(classic.read, next.read, own.read)) {
            ProcessCluster.await("all records", () -> read.containsAll(expected));
        }
        assertThat(errors).isEmpty();
    }
}
