package io.journalq.server.broker;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Creates the data directory of a release, which is stored in {@link #DIRECTORY} and opened by all later
 * releases. {@link GoldenDataRecorder} describes how.
 */
final class GoldenData {
    /** Beside the tests that need no broker. They read these files, too. */
    static final Path DIRECTORY = Path.of("..", "journalq-server", "src", "test", "resources", "golden");

    static final String TOPIC = "golden";
    static final String GROUP = "golden-group";
    static final long COMMITTED = 7;
    static final int RECORDS_OF_EACH_CODEC = 8;
    static final String TRANSACTIONS_TOPIC = "golden-transactions";
    static final int TRANSACTIONS = 8;
    static final int RECORDS_OF_EACH_TRANSACTION = 3;
    static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");

    private GoldenData() {}

    /** Every value of the topic's only partition, in order. */
    static List<String> values() {
        List<String> values = new ArrayList<>();
        for (String codec : CODECS) {
            for (int i = 0; i < RECORDS_OF_EACH_CODEC; i++) {
                values.add("golden " + codec + " " + i + " " + "abcdefgh".repeat(12));
            }
        }
        return values;
    }

    /** The committed values of the other topic, in order. Every second transaction was aborted. */
    static List<String> committedValues() {
        List<String> values = new ArrayList<>();
        for (int transaction = 0; transaction < TRANSACTIONS; transaction += 2) {
            for (int i = 0; i < RECORDS_OF_EACH_TRANSACTION; i++) {
                values.add(transactionValue(transaction, i));
            }
        }
        return values;
    }

    private static String transactionValue(int transaction, int record) {
        return "transaction " + transaction + " record " + record + " " + "abcdefgh".repeat(12);
    }

    static void write(Path directory) throws Exception {
        fill(directory, "eventual", "1024", () -> {});
        deleteWhatSaysNothing(directory);
    }

    /**
     * Simulates a power loss: the journals lose records that were acknowledged in mode consistent but are only in
     * write-ahead files.
     */
    static void writeWithWriteAheadFiles(Path directory) throws Exception {
        Path data = Files.createTempDirectory("golden");
        // A new segment fsyncs the earlier ones, so the records that are only in write-ahead files are in one segment.
        fill(data, "consistent", "1048576", () -> LostTails.copy(data, directory));
        deleteWhatSaysNothing(directory);
    }

    private interface AtTheEnd {
        void run() throws IOException;
    }

    private static void fill(Path directory, String deliveryMode, String segmentBytes, AtTheEnd atTheEnd)
            throws Exception {
        BrokerConfig config = BrokerConfig.defaults()
                .with("listeners", "PLAINTEXT://127.0.0.1:0", ConfigOrigin.COMMAND_LINE)
                .with("admin.listener", "", ConfigOrigin.COMMAND_LINE)
                .with("gateway.listener", "", ConfigOrigin.COMMAND_LINE)
                .with("offsets.topic.num.partitions", "1", ConfigOrigin.COMMAND_LINE)
                .with("transaction.state.log.num.partitions", "1", ConfigOrigin.COMMAND_LINE)
                .with("delivery.mode", deliveryMode, ConfigOrigin.COMMAND_LINE)
                .with("write.ahead.max.bytes", "262144", ConfigOrigin.COMMAND_LINE)
                .with("data.directories", directory.toString(), ConfigOrigin.COMMAND_LINE);
        try (Broker broker = Broker.start(config)) {
            Map<String, Object> client = new HashMap<>(Map.of("bootstrap.servers", broker.bootstrapServers()));
            try (Admin admin = Admin.create(client)) {
                Map<String, String> small =
                        Map.of("segment.bytes", segmentBytes, "index.interval.bytes", "1024", "retention.ms", "-1");
                admin.createTopics(List.of(
                                new NewTopic(TOPIC, 1, (short) 1).configs(small),
                                new NewTopic(TRANSACTIONS_TOPIC, 1, (short) 1).configs(small)))
                        .all()
                        .get();
            }
            for (String codec : CODECS) {
                produce(client, codec);
            }
            produceTransactions(client);
            commit(client);
            atTheEnd.run();
        }
    }

    /** Deletes files that no start needs. Some of them contain the name of the machine. */
    private static void deleteWhatSaysNothing(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = file.getFileName().toString();
                boolean ofDatabase =
                        "coordinators".equals(file.getParent().getFileName().toString());
                if (name.equals(".lock")
                        || name.equals("metadata.reserve")
                        || (ofDatabase && name.matches("(LOG|OPTIONS|LOCK).*"))) {
                    Files.delete(file);
                }
            }
        }
    }

    private static void produceTransactions(Map<String, Object> client) throws Exception {
        Map<String, Object> config = new HashMap<>(client);
        config.put("transactional.id", "golden-transactional-id");
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            for (int transaction = 0; transaction < TRANSACTIONS; transaction++) {
                producer.beginTransaction();
                for (int i = 0; i < RECORDS_OF_EACH_TRANSACTION; i++) {
                    byte[] value = transactionValue(transaction, i).getBytes(StandardCharsets.US_ASCII);
                    producer.send(new ProducerRecord<>(TRANSACTIONS_TOPIC, 0, 1_700_000_000_000L, null, value))
                            .get();
                }
                if (transaction % 2 == 0) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
        }
    }

    private static void produce(Map<String, Object> client, String codec) throws Exception {
        Map<String, Object> config = new HashMap<>(client);
        config.put("compression.type", codec);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (String value : values()) {
                if (value.startsWith("golden " + codec + " ")) {
                    producer.send(new ProducerRecord<>(
                                    TOPIC, 0, 1_700_000_000_000L, null, value.getBytes(StandardCharsets.US_ASCII)))
                            .get();
                }
            }
        }
    }

    private static void commit(Map<String, Object> client) {
        Map<String, Object> config = new HashMap<>(client);
        config.put("group.id", GROUP);
        try (var consumer = new org.apache.kafka.clients.consumer.KafkaConsumer<>(
                config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.commitSync(Map.of(new TopicPartition(TOPIC, 0), new OffsetAndMetadata(COMMITTED)));
        }
    }
}
