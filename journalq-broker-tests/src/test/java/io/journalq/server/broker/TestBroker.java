package io.journalq.server.broker;

import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.network.NetworkCounters;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A real broker in this process, on a free port, with real clients. It can be stopped and restarted. */
public final class TestBroker implements AutoCloseable {
    private final Path dataDirectory;
    private final Map<String, String> settings = new TreeMap<>();
    private Broker broker;

    public TestBroker(Path dataDirectory) {
        this.dataDirectory = dataDirectory;
    }

    public TestBroker with(String key, String value) {
        settings.put(key, value);
        return this;
    }

    public BrokerConfig config() throws ConfigException {
        BrokerConfig config = BrokerConfig.defaults()
                .with("listeners", "PLAINTEXT://127.0.0.1:0", ConfigOrigin.COMMAND_LINE)
                .with("admin.listener", "", ConfigOrigin.COMMAND_LINE)
                .with("gateway.listener", "", ConfigOrigin.COMMAND_LINE)
                .with("shutdown.timeout.ms", "3000", ConfigOrigin.COMMAND_LINE)
                // Small files, because creating them takes time on a slow disk.
                .with("write.ahead.max.bytes", "1048576", ConfigOrigin.COMMAND_LINE)
                .with("data.directories", dataDirectory.toString(), ConfigOrigin.COMMAND_LINE);
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            config = config.with(setting.getKey(), setting.getValue(), ConfigOrigin.COMMAND_LINE);
        }
        return config;
    }

    public TestBroker start() throws ConfigException, StartException {
        return start(new SystemFileStore());
    }

    public TestBroker start(FileStore store) throws ConfigException, StartException {
        return start(store, Clock.systemUTC());
    }

    TestBroker start(FileStore store, Clock clock) throws ConfigException, StartException {
        broker = Broker.start(config(), store, clock);
        return this;
    }

    public void stop() {
        broker.close();
        broker = null;
    }

    /** The network counters of the running broker. */
    public NetworkCounters network() {
        return broker.network();
    }

    /** Number of connections that the running broker has accepted. */
    public long acceptedConnections() {
        return broker.network().acceptedConnections();
    }

    /** The APIs that the running broker serves. */
    public HandlerRegistry handlers() {
        return broker.handlers();
    }

    /** The memory budget of the running broker. */
    MemoryBudget memory() {
        return broker.stateMemory();
    }

    /** Waits for a condition, long enough for a slow machine. */
    public void await(BooleanSupplier condition) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadlineNanos) {
                throw new AssertionError("the condition did not come true within 30 s");
            }
            Thread.sleep(1);
        }
    }

    /** The page of the admin listener at a path; the broker must have an admin listener. */
    HttpResponse<String> page(String path) throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + broker.adminPort() + path);
        return HttpClient.newHttpClient().send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }

    /** The same for callers that are not interrupted. */
    void awaitQuietly(BooleanSupplier condition) {
        try {
            await(condition);
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    public String bootstrap() {
        return broker.bootstrapServers();
    }

    public List<ListenerAddress> listeners() {
        return broker.listeners();
    }

    /** Port of the first listener. */
    public int port() {
        return broker.listeners().get(0).port();
    }

    /** The port of the admin listener; the broker must have one. */
    int adminPort() {
        return broker.adminPort();
    }

    /** The port of the HTTP gateway; the broker must have one. */
    int gatewayPort() {
        return broker.gatewayPort();
    }

    public Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", bootstrap()));
    }

    public void createTopic(String name, int partitions, Map<String, String> configs) throws Exception {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(name, partitions, (short) 1).configs(configs)))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }
    }

    public KafkaProducer<byte[], byte[]> producer(Map<String, Object> overrides) {
        Properties properties = new Properties();
        properties.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap());
        properties.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        properties.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        properties.putAll(overrides);
        return new KafkaProducer<>(properties);
    }

    public KafkaConsumer<byte[], byte[]> consumer(Map<String, Object> overrides) {
        Properties properties = new Properties();
        properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap());
        properties.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
        properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        properties.putAll(overrides);
        return new KafkaConsumer<>(properties);
    }

    /** Reads {@code count} records of the partitions from the beginning, in the order of their arrival. */
    public List<ConsumerRecord<byte[], byte[]>> readAll(Collection<TopicPartition> partitions, int count) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(Map.of())) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (records.size() < count && System.nanoTime() < deadlineNanos) {
                consumer.poll(java.time.Duration.ofMillis(200)).forEach(records::add);
            }
        }
        return records;
    }

    @Override
    public void close() {
        if (broker != null) {
            stop();
        }
    }
}
