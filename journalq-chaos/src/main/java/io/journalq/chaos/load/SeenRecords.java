package io.journalq.chaos.load;

import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.common.id.TopicPartition;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Consumers that remember what they have seen at each offset. Whatever a consumer has seen must stay where it is,
 * however it was acknowledged. Any thread.
 */
public final class SeenRecords {
    private static final Duration POLL = Duration.ofMillis(200);

    private final Ledger ledger;
    private final Map<String, Map<Long, Payload>> seen = new TreeMap<>();

    /** @param ledger receives the findings */
    public SeenRecords(Ledger ledger) {
        this.ledger = ledger;
    }

    /** Starts a consumer of the Kafka client, which reads all partitions of a topic from their beginning. */
    public void watchWithKafka(ClientThreads load, String topic, int partitions) {
        Map<String, Object> config = LoadClients.kafkaSettings(load);
        config.put("request.timeout.ms", (int) load.requestTimeout().toMillis());
        config.put("default.api.timeout.ms", LoadClients.DELIVERY_TIMEOUT_MS);
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", false);
        load.begin("kafka consumer of " + topic, () -> {
            try (KafkaConsumer<byte[], byte[]> consumer =
                    new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                List<org.apache.kafka.common.TopicPartition> all = LoadClients.partitions(topic, partitions).stream()
                        .map(each -> new org.apache.kafka.common.TopicPartition(each.topic(), each.partition()))
                        .toList();
                consumer.assign(all);
                consumer.seekToBeginning(all);
                while (!load.isStopping()) {
                    consumer.poll(POLL).forEach(record -> {
                        load.onConsumed(1);
                        onSeen(record.topic() + "-" + record.partition(), record.offset(), record.value());
                    });
                }
            }
        });
    }

    /** Starts a consumer of the JournalQ client, which reads all partitions of a topic from their beginning. */
    public void watchWithJournalQ(ClientThreads load, String topic, int partitions) {
        load.begin("journalq consumer of " + topic, () -> {
            try (Consumer consumer = Consumer.builder()
                    .bootstrapServers(load.servers())
                    .requestTimeout(load.requestTimeout())
                    .callTimeout(LoadClients.DELIVERY_TIMEOUT)
                    .build()) {
                List<TopicPartition> all = LoadClients.partitions(topic, partitions);
                consumer.assign(all);
                consumer.seekToBeginning(all);
                while (!load.isStopping()) {
                    for (ConsumerRecord record : consumer.poll(POLL)) {
                        load.onConsumed(1);
                        onSeen(record.topic() + "-" + record.partition(), record.offset(), record.value());
                    }
                }
            }
        });
    }

    /** A consumer has received a record. */
    synchronized void onSeen(String partition, long offset, byte[] value) {
        Payload now = Payload.decode(value);
        if (now == null) {
            ledger.report("SeenIsKept: " + partition + " offset " + offset + " holds a record that no producer sent");
            return;
        }
        Payload before =
                seen.computeIfAbsent(partition, name -> new HashMap<>()).putIfAbsent(offset, now);
        if (before != null && !before.equals(now)) {
            ledger.report(
                    "SeenIsKept: consumers saw " + before + " and " + now + " at " + partition + " offset " + offset);
        }
    }

    /**
     * Compares what a partition holds after the load with what consumers have seen of it.
     *
     * @param from begins the findings
     * @param held the records of the partition, by offset
     */
    public synchronized void compare(String from, String partition, Map<Long, Payload> held) {
        Map<Long, Payload> wanted = seen.getOrDefault(partition, Map.of());
        long lost = wanted.keySet().stream()
                .filter(offset -> !wanted.get(offset).equals(held.get(offset)))
                .count();
        wanted.keySet().stream()
                .filter(offset -> !wanted.get(offset).equals(held.get(offset)))
                .min(Long::compare)
                .ifPresent(first -> ledger.report("SeenIsKept: " + from + partition + ": " + lost
                        + " records are lost that consumers have seen, the first at offset " + first + " was "
                        + wanted.get(first) + ", and is " + held.get(first)));
    }
}
