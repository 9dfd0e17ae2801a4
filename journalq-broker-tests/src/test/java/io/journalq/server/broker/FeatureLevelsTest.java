package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.FeatureUpdate.UpgradeType;
import org.apache.kafka.clients.admin.FinalizedVersionRange;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidUpdateVersionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Levels of features: how they change, and their effect on clients. */
class FeatureLevelsTest {
    private static final String GROUPS = "group.version";
    private static final String TRANSACTIONS = "transaction.version";
    private static final TopicPartition ORDERS = new TopicPartition("orders", 0);

    @TempDir
    private Path directory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory).start();
        broker.createTopic(ORDERS.topic(), 1, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private Map<String, FinalizedVersionRange> levels() throws Exception {
        try (Admin admin = broker.admin()) {
            return admin.describeFeatures()
                    .featureMetadata()
                    .get(30, TimeUnit.SECONDS)
                    .finalizedFeatures();
        }
    }

    private static FinalizedVersionRange at(int level) {
        return new FinalizedVersionRange((short) level, (short) level);
    }

    private void update(Map<String, FeatureUpdate> updates) throws Exception {
        update(updates, false);
    }

    private void update(Map<String, FeatureUpdate> updates, boolean validateOnly) throws Exception {
        try (Admin admin = broker.admin()) {
            admin.updateFeatures(updates, new UpdateFeaturesOptions().validateOnly(validateOnly))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    private static FeatureUpdate to(int level, UpgradeType type) {
        return new FeatureUpdate((short) level, type);
    }

    @Test
    void shouldKeepALevelAcrossARestartWhenItWasPutInForce() throws Exception {
        assertThat(levels()).isEqualTo(Map.of(GROUPS, at(1), TRANSACTIONS, at(2)));

        update(Map.of(TRANSACTIONS, to(1, UpgradeType.SAFE_DOWNGRADE)));
        update(Map.of(GROUPS, to(0, UpgradeType.UNSAFE_DOWNGRADE)), true);
        broker.stop();
        broker.start();

        assertThat(levels()).isEqualTo(Map.of(GROUPS, at(1), TRANSACTIONS, at(1)));
        update(Map.of(TRANSACTIONS, to(2, UpgradeType.UPGRADE)));
        assertThat(levels()).isEqualTo(Map.of(GROUPS, at(1), TRANSACTIONS, at(2)));
    }

    @Test
    void shouldChangeNothingWhenOneOfSeveralUpdatesIsRefused() throws Exception {
        List<Map<String, FeatureUpdate>> wrong = List.of(
                Map.of(GROUPS, to(2, UpgradeType.UPGRADE)),
                Map.of("no.such", to(1, UpgradeType.UPGRADE)),
                Map.of(TRANSACTIONS, to(1, UpgradeType.UPGRADE)),
                Map.of(TRANSACTIONS, to(1, UpgradeType.SAFE_DOWNGRADE), GROUPS, to(2, UpgradeType.UPGRADE)));

        for (Map<String, FeatureUpdate> updates : wrong) {
            assertThatThrownBy(() -> update(updates)).cause().isInstanceOf(InvalidUpdateVersionException.class);
        }

        update(Map.of(GROUPS, to(1, UpgradeType.UPGRADE)));
        assertThat(levels()).isEqualTo(Map.of(GROUPS, at(1), TRANSACTIONS, at(2)));
    }

    @Test
    void shouldRefuseTheConsumerProtocolWhenItIsOff() throws Exception {
        update(Map.of(GROUPS, to(0, UpgradeType.SAFE_DOWNGRADE)));

        assertThat(levels()).isEqualTo(Map.of(TRANSACTIONS, at(2)));
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(
                Map.of(ConsumerConfig.GROUP_ID_CONFIG, "g", ConsumerConfig.GROUP_PROTOCOL_CONFIG, "consumer"))) {
            consumer.subscribe(List.of(ORDERS.topic()));
            assertThatThrownBy(() -> {
                        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
                        while (System.nanoTime() < endNanos) {
                            consumer.poll(Duration.ofMillis(100));
                        }
                    })
                    .isInstanceOf(UnsupportedVersionException.class);
        }
    }

    @Test
    void shouldCommitTransactionsWhenClientsSpeakOfThemAsBefore() throws Exception {
        update(Map.of(TRANSACTIONS, to(1, UpgradeType.SAFE_DOWNGRADE)));

        try (KafkaProducer<byte[], byte[]> producer =
                broker.producer(Map.of(ProducerConfig.TRANSACTIONAL_ID_CONFIG, "t"))) {
            producer.initTransactions();
            for (int i = 0; i < 3; i++) {
                producer.beginTransaction();
                var unused = producer.send(new ProducerRecord<>(ORDERS.topic(), 0, null, new byte[] {(byte) i}));
                producer.commitTransaction();
            }
        }

        assertThat(broker.readAll(List.of(ORDERS), 3))
                .extracting(record -> record.value()[0])
                .containsExactly((byte) 0, (byte) 1, (byte) 2);
        try (Admin admin = broker.admin()) {
            // In the second generation, the epoch is incremented by every transaction, and would be 3 by now.
            assertThat(admin.describeProducers(List.of(ORDERS))
                            .partitionResult(ORDERS)
                            .get(30, TimeUnit.SECONDS)
                            .activeProducers())
                    .singleElement()
                    .satisfies(producer -> assertThat(producer.producerEpoch()).isZero());
        }
    }
}
