package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.AppInfoParser;

/** The reference Java client of the Kafka protocol. Works with both brokers. */
public final class KafkaClientsDriver implements ClientDriver {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final ConnectionSecurity security;

    /** A client with plain connections. */
    public KafkaClientsDriver() {
        this(ConnectionSecurity.NONE);
    }

    public KafkaClientsDriver(ConnectionSecurity security) {
        this.security = security;
    }

    @Override
    public String name() {
        return "kafka-clients";
    }

    @Override
    public String version() {
        return AppInfoParser.getVersion();
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
        boolean acknowledged = !settings.extra().getOrDefault("acks", "").equals("0");
        return new Singles(settings.topic(), open(settings), acknowledged);
    }

    @Override
    public MessageConsumer openConsumer(ConsumerSettings settings) {
        KafkaConsumer<byte[], byte[]> consumer = open(settings.bootstrap(), Map.of(), settings.extra());
        Map<TopicPartition, Long> starts = new HashMap<>();
        settings.startOffsets()
                .forEach((partition, offset) -> starts.put(new TopicPartition(settings.topic(), partition), offset));
        consumer.assign(starts.keySet());
        starts.forEach(consumer::seek);
        return new KafkaClientsConsumer(consumer);
    }

    @Override
    public void commitStart(GroupSettings settings, Map<Integer, Long> offsets) {
        Map<TopicPartition, OffsetAndMetadata> starts = new HashMap<>();
        offsets.forEach((partition, offset) ->
                starts.put(new TopicPartition(settings.topic(), partition), new OffsetAndMetadata(offset)));
        Map<String, Object> group = Map.of(ConsumerConfig.GROUP_ID_CONFIG, settings.group());
        try (KafkaConsumer<byte[], byte[]> consumer = open(settings.bootstrap(), group, settings.extra())) {
            consumer.commitSync(starts);
        } catch (KafkaException e) {
            throw new BenchException("kafka-clients cannot commit", "check the broker's log", e);
        }
    }

    @Override
    public MessageConsumer openMember(GroupSettings settings) {
        Map<String, Object> group = Map.of(
                ConsumerConfig.GROUP_ID_CONFIG,
                settings.group(),
                ConsumerConfig.GROUP_PROTOCOL_CONFIG,
                "consumer",
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                true);
        KafkaConsumer<byte[], byte[]> consumer = open(settings.bootstrap(), group, settings.extra());
        consumer.subscribe(List.of(settings.topic()));
        return new KafkaClientsConsumer(consumer);
    }

    private KafkaConsumer<byte[], byte[]> open(String bootstrap, Map<String, Object> group, Map<String, String> extra) {
        Map<String, Object> config = new HashMap<>();
        config.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        config.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        config.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        config.putAll(security.kafkaSettings());
        config.putAll(group);
        config.putAll(extra);
        try {
            return new KafkaConsumer<>(config);
        } catch (KafkaException e) {
            throw new BenchException(
                    "kafka-clients cannot open a consumer", "check --bootstrap and --client-setting", e);
        }
    }

    private KafkaProducer<byte[], byte[]> open(ProducerSettings settings) {
        Map<String, Object> config = new HashMap<>();
        config.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, settings.bootstrap());
        config.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        config.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        config.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, settings.compression());
        config.put(ProducerConfig.ACKS_CONFIG, "1");
        config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "false");
        config.putAll(security.kafkaSettings());
        config.putAll(settings.extra());
        try {
            return new KafkaProducer<>(config);
        } catch (KafkaException e) {
            throw new BenchException(
                    "kafka-clients cannot open a producer", "check --bootstrap and --client-setting", e);
        }
    }

    private record Sync(String topic, KafkaProducer<byte[], byte[]> producer) implements SyncProducer {
        @Override
        public long send(int partition, byte[] value) throws InterruptedException, ExecutionException {
            return producer.send(new ProducerRecord<>(topic, partition, null, value))
                    .get()
                    .offset();
        }

        @Override
        public void close() {
            producer.close(CLOSE_TIMEOUT);
        }
    }

    /**
     * Sends the messages of a batch one after the other to one partition, because the library has no call for a batch. Its
     * linger time and batch size decide which messages form a batch.
     */
    private record Batches(String topic, KafkaProducer<byte[], byte[]> producer) implements BatchProducer {
        @Override
        public void send(int partition, List<byte[]> values, Listener listener) {
            Countdown countdown = new Countdown(values.size(), listener);
            for (byte[] value : values) {
                var unused = producer.send(new ProducerRecord<>(topic, partition, null, value), countdown);
            }
        }

        @Override
        public void flush() {
            producer.flush();
        }

        @Override
        public void close() {
            producer.close(CLOSE_TIMEOUT);
        }
    }

    /** {@code acknowledged}: whether the broker acknowledges. If not, a message is confirmed when the client has accepted it. */
    private record Singles(String topic, KafkaProducer<byte[], byte[]> producer, boolean acknowledged)
            implements Publisher {
        @Override
        public void publish(byte[] value, Confirmation confirmation) {
            ProducerRecord<byte[], byte[]> message = new ProducerRecord<>(topic, value);
            if (acknowledged) {
                var unused = producer.send(message, (where, failure) -> confirmation.onConfirmed(failure));
            } else {
                var unused = producer.send(message);
                confirmation.onConfirmed(null);
            }
        }

        @Override
        public void flush() {
            producer.flush();
        }

        @Override
        public void close() {
            producer.close(CLOSE_TIMEOUT);
        }
    }

    /** Calls the listener when the last message of a batch is complete. If a message fails, the batch fails. */
    private static final class Countdown implements Callback {
        private final AtomicInteger incomplete;
        private final BatchProducer.Listener listener;
        private volatile Exception failure;

        Countdown(int messages, BatchProducer.Listener listener) {
            incomplete = new AtomicInteger(messages);
            this.listener = listener;
        }

        @Override
        public void onCompletion(RecordMetadata metadata, Exception exception) {
            if (exception != null) {
                failure = exception;
            }
            if (incomplete.decrementAndGet() == 0) {
                listener.onComplete(failure);
            }
        }
    }

    private record KafkaClientsConsumer(KafkaConsumer<byte[], byte[]> consumer) implements MessageConsumer {
        @Override
        public int poll(Duration timeout, Visitor visitor) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(timeout);
            for (ConsumerRecord<byte[], byte[]> message : records) {
                if (visitor.onMessage(message.partition(), message.offset())) {
                    visitor.onValue(message.partition(), message.offset(), message.value());
                }
            }
            return records.count();
        }

        @Override
        public int share() {
            return consumer.assignment().size();
        }

        @Override
        public void close() {
            consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(CLOSE_TIMEOUT));
        }
    }
}
