package io.journalq.bench.driver;

import io.journalq.client.Acks;
import io.journalq.client.Consumer;
import io.journalq.client.Producer;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import io.journalq.seal.SealPolicy;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** JournalQ's Java client. */
public final class JournalQClientDriver implements ClientDriver {
    private final ConnectionSecurity security;
    private final SealPolicy seal;

    /**
     * Creates a driver.
     *
     * @param seal seals what is sent, and opens what is received; null for neither
     */
    public JournalQClientDriver(ConnectionSecurity security, SealPolicy seal) {
        this.security = security;
        this.seal = seal;
    }

    @Override
    public String name() {
        return "journalq";
    }

    @Override
    public String version() {
        String version = Producer.class.getPackage().getImplementationVersion();
        return version == null ? "this checkout" : version;
    }

    @Override
    public SyncProducer openSyncProducer(ProducerSettings settings) {
        return new Sync(settings.topic(), open(settings));
    }

    @Override
    public BatchProducer openBatchProducer(ProducerSettings settings) {
        return new Batches(settings.topic(), open(settings));
    }

    @Override
    public Publisher openPublisher(ProducerSettings settings) {
        String acks = settings.extra().getOrDefault("acks", "");
        return new Singles(settings.topic(), open(settings), !acks.equalsIgnoreCase(Acks.NONE.name()));
    }

    @Override
    public MessageConsumer openConsumer(ConsumerSettings settings) {
        Consumer.Builder builder = consumer(settings.bootstrap());
        settings.extra().forEach((name, value) -> JournalQClientSettings.apply(builder, name, value));
        Consumer consumer = builder.build();
        Map<TopicPartition, Long> starts = new LinkedHashMap<>();
        settings.startOffsets()
                .forEach((partition, offset) -> starts.put(new TopicPartition(settings.topic(), partition), offset));
        consumer.assign(starts.keySet());
        starts.forEach(consumer::seek);
        return new JournalQConsumer(consumer);
    }

    @Override
    public void commitStart(GroupSettings settings, Map<Integer, Long> offsets) {
        Map<TopicPartition, CommittedOffset> starts = new LinkedHashMap<>();
        offsets.forEach((partition, offset) ->
                starts.put(new TopicPartition(settings.topic(), partition), CommittedOffset.of(offset)));
        try (Consumer consumer = member(settings).build()) {
            consumer.commit(starts);
        }
    }

    @Override
    public MessageConsumer openMember(GroupSettings settings) {
        Consumer consumer = member(settings).build();
        consumer.subscribe(List.of(settings.topic()));
        return new JournalQConsumer(consumer);
    }

    private Consumer.Builder consumer(String bootstrap) {
        Consumer.Builder builder = Consumer.builder().bootstrapServers(bootstrap);
        security.apply(builder);
        return seal == null ? builder : builder.open(seal);
    }

    private Consumer.Builder member(GroupSettings settings) {
        Consumer.Builder builder = consumer(settings.bootstrap()).groupId(settings.group());
        settings.extra().forEach((name, value) -> JournalQClientSettings.apply(builder, name, value));
        return builder;
    }

    /** A producer with acks=leader and without idempotence, like those of the other brokers, unless it seals. */
    private Producer open(ProducerSettings settings) {
        Producer.Builder builder = Producer.builder()
                .bootstrapServers(settings.bootstrap())
                .compression(CompressionCodec.valueOf(settings.compression().toUpperCase(Locale.ROOT)))
                .acks(Acks.LEADER)
                .idempotent(seal != null);
        security.apply(builder);
        if (seal != null) {
            builder.seal(seal);
        }
        settings.extra().forEach((name, value) -> JournalQClientSettings.apply(builder, name, value));
        return builder.build();
    }

    private record Sync(String topic, Producer producer) implements SyncProducer {
        @Override
        public long send(int partition, byte[] value) {
            return producer.send(ProducerRecord.of(topic, partition, null, value))
                    .offset();
        }

        @Override
        public void close() {
            producer.close();
        }
    }

    private record Batches(String topic, Producer producer) implements BatchProducer {
        @Override
        public void send(int partition, List<byte[]> values, Listener listener) {
            List<ProducerRecord> records = new ArrayList<>(values.size());
            for (byte[] value : values) {
                records.add(ProducerRecord.of(topic, partition, null, value));
            }
            var unused = producer.sendBatch(topic, partition, records)
                    .whenComplete((batch, failure) -> listener.onComplete(failure));
        }

        @Override
        public void flush() {
            producer.flush();
        }

        @Override
        public void close() {
            producer.close();
        }
    }

    /** {@code acknowledged}: whether the broker acknowledges. If not, a message is confirmed when the client has accepted it. */
    private record Singles(String topic, Producer producer, boolean acknowledged) implements Publisher {
        @Override
        public void publish(byte[] value, Confirmation confirmation) {
            var sent = producer.sendAsync(ProducerRecord.of(topic, value));
            if (acknowledged) {
                var unused = sent.whenComplete((where, failure) -> confirmation.onConfirmed(failure));
            } else {
                confirmation.onConfirmed(null);
            }
        }

        @Override
        public void flush() {
            producer.flush();
        }

        @Override
        public void close() {
            producer.close();
        }
    }

    private record JournalQConsumer(Consumer consumer) implements MessageConsumer {
        @Override
        public int poll(Duration timeout, Visitor visitor) {
            var records = consumer.poll(timeout);
            records.visit((topic, partition, record) -> {
                if (visitor.onMessage(partition, record.offset())) {
                    ByteBuf value = record.value();
                    visitor.onValue(
                            partition, record.offset(), value == null ? new byte[0] : ByteBufUtil.getBytes(value));
                }
            });
            return records.count();
        }

        @Override
        public int share() {
            return consumer.assignment().size();
        }

        @Override
        public void close() {
            consumer.close();
        }
    }
}
