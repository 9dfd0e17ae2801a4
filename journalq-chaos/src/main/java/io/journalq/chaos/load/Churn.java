package io.journalq.chaos.load;

import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.Producer;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.error.TopicExistsException;
import io.journalq.client.record.ProducerRecord;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Short-lived clients: they open and close connections, producers, group members and topics. */
public final class Churn {
    private static final int NAMES = 10;
    private static final int PARTITIONS = 2;
    private static final int MESSAGES = 20;
    private static final int SOCKETS = 5;
    private static final Duration POLL = Duration.ofMillis(200);

    private Churn() {}

    /** Starts one thread that runs these clients one after the other. */
    public static void begin(ClientThreads load, List<String> topics) {
        load.begin("short-lived clients", () -> {
            for (int round = 0; !load.isStopping(); round++) {
                String name = "passing-" + round % NAMES;
                passingTopic(load, name);
                passingGroup(load, name, topics.get(round % topics.size()));
                passingKafkaMember(load, name, topics.get(round % topics.size()));
                brokenRequests(load);
                load.pause();
            }
        });
    }

    private static void passingTopic(ClientThreads load, String name) {
        try (Admin admin = Admin.builder().bootstrapServers(load.servers()).build();
                Producer producer =
                        Producer.builder().bootstrapServers(load.servers()).build()) {
            try {
                admin.createTopic(NewTopic.of(name, PARTITIONS));
            } catch (TopicExistsException leftBehind) {
                // An earlier round with this name was cut short.
                admin.deleteTopics(List.of(name));
                return;
            }
            for (int i = 0; i < MESSAGES; i++) {
                producer.send(ProducerRecord.of(name, i % PARTITIONS, null, new Payload(0, i).encode()));
            }
            admin.deleteTopics(List.of(name));
        }
    }

    private static void passingGroup(ClientThreads load, String name, String topic) {
        try (Consumer consumer = Consumer.builder()
                .bootstrapServers(load.servers())
                .groupId(name)
                .build()) {
            consumer.subscribe(List.of(topic));
            for (int i = 0; i < SOCKETS; i++) {
                load.onConsumed(consumer.poll(POLL).count());
            }
            consumer.commit();
        }
    }

    private static void passingKafkaMember(ClientThreads load, String name, String topic) {
        Map<String, Object> config =
                Map.of("bootstrap.servers", load.servers(), "group.id", name + "-kafka", "group.protocol", "classic");
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(topic));
            for (int i = 0; i < SOCKETS; i++) {
                load.onConsumed(consumer.poll(POLL).count());
            }
        }
    }

    /** Connections that close in the middle of a request, or without sending a byte. */
    private static void brokenRequests(ClientThreads load) throws IOException {
        int colon = load.servers().lastIndexOf(':');
        for (int i = 0; i < SOCKETS; i++) {
            try (Socket socket = new Socket(
                    load.servers().substring(0, colon),
                    Integer.parseInt(load.servers().substring(colon + 1)))) {
                OutputStream out = socket.getOutputStream();
                out.write(new byte[] {0, 0, 1, 0, 0, 3}, 0, i);
                out.flush();
            }
        }
    }
}
