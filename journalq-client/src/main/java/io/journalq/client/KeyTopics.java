package io.journalq.client;

import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.client.error.RequestTimedOutException;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.id.TopicPartition;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The topics of keys, over ordinary clients. Each call opens clients and closes them, because calls are rare: one at the
 * start of a producer, and a few in an hour. Thread-safe.
 */
public final class KeyTopics implements KeyLog {
    private static final Duration POLL = Duration.ofMillis(100);

    private final ClientBuilder<?> settings;

    private KeyTopics(ClientBuilder<?> settings) {
        this.settings = settings;
    }

    /** Returns the topics of keys of the cluster to which these settings connect. Later changes of them have no effect. */
    public static KeyTopics of(ClientBuilder<?> settings) {
        return new KeyTopics(Admin.builder().like(notNull(settings, "settings")));
    }

    @Override
    public long append(String topic, byte[] key, byte[] value) {
        try (Admin admin = Admin.builder().like(settings).build()) {
            // A producer would create a missing topic, which would not be compacted and would lose keys.
            admin.describeTopics(List.of(topic));
        }
        try (Producer producer =
                Producer.builder().like(settings).acks(Acks.ALL).build()) {
            return producer.send(ProducerRecord.builder(topic)
                            .partition(0)
                            .key(key)
                            .value(value)
                            .build())
                    .offset();
        }
    }

    @Override
    public Entry read(String topic, long offset) {
        TopicPartition partition = new TopicPartition(topic, 0);
        try (Consumer consumer = open(partition)) {
            if (offset < 0
                    || offset >= consumer.endOffsets(List.of(partition)).get(partition)
                    || offset < consumer.beginningOffsets(List.of(partition)).get(partition)) {
                return null;
            }
            consumer.seek(partition, offset);
            long deadlineNanos = deadlineNanos();
            while (consumer.position(partition) <= offset) {
                for (ConsumerRecord record : consumer.poll(POLL)) {
                    if (record.offset() >= offset) {
                        return record.offset() == offset ? entry(record) : null;
                    }
                }
                checkTime(deadlineNanos, topic);
            }
            return null;
        }
    }

    @Override
    public void readAll(String topic, java.util.function.Consumer<Entry> each) {
        TopicPartition partition = new TopicPartition(topic, 0);
        try (Consumer consumer = open(partition)) {
            Map<TopicPartition, Long> ends = consumer.endOffsets(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long deadlineNanos = deadlineNanos();
            while (consumer.position(partition) < ends.get(partition)) {
                consumer.poll(POLL).forEach(record -> each.accept(entry(record)));
                checkTime(deadlineNanos, topic);
            }
        }
    }

    private Consumer open(TopicPartition partition) {
        Consumer consumer = Consumer.builder()
                .like(settings)
                .startAt(Consumer.Start.NOWHERE)
                .build();
        consumer.assign(List.of(partition));
        return consumer;
    }

    private static Entry entry(ConsumerRecord record) {
        return new Entry(record.offset(), record.key(), record.value());
    }

    private long deadlineNanos() {
        return System.nanoTime() + settings.callTimeoutNanos();
    }

    private static void checkTime(long deadlineNanos, String topic) {
        if (System.nanoTime() - deadlineNanos > 0) {
            throw new RequestTimedOutException("topic " + topic + " was not read within the call timeout");
        }
    }
}
