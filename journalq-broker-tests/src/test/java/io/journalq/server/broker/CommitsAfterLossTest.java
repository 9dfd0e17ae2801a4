package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.metadata.InternalTopics;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Faults that the simulator found in the interaction of groups, transactions and partitions after data loss, each
 * reduced to the fewest steps, on a real broker. The test restores or truncates files to simulate the loss. The numbers
 * are those of the simulator's seeds.
 */
class CommitsAfterLossTest {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final String GROUP = "g";

    @TempDir
    private Path directory;

    private Path data;
    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        data = directory.resolve("data");
        broker = new TestBroker(data)
                .with("offsets.topic.num.partitions", "1")
                .with("group.initial.rebalance.delay.ms", "0")
                .start();
        broker.createTopic("t", 1, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test // seed 2747
    void shouldMoveACommitBackWhenOtherRecordsHaveTakenThePlaceOfWhatItHadRead() throws Exception {
        // given a group that has read three records, and a power loss that loses two of them
        produce(1);
        String directoryName = id("t") + "-0";
        long oneRecordBytes = Files.size(log(directoryName));
        produce(2);
        commitAll(3);
        Path log = log(directoryName);
        String groups = id(InternalTopics.GROUPS) + "-0";
        broker.stop();
        copyCoordinators(groups, data, directory.resolve("before"));
        cut(log, oneRecordBytes);

        // when other records are appended at their offsets, and the later records of the group's coordinator are lost
        // too
        broker.start();
        assertThat(end()).isEqualTo(1);
        produce(5);
        broker.stop();
        copyCoordinators(groups, directory.resolve("before"), data);
        broker.start();

        // then the group continues after the record that it has read, and skips none
        assertThat(end()).isEqualTo(6);
        assertThat(committed()).isEqualTo(1L);
    }

    @Test // seed 30001078
    void shouldForgetCommitsForATopicThatWasDeletedWhenTheCoordinatorDidNotHearOfIt() throws Exception {
        // given a group that has read a topic
        produce(1);
        commitAll(1);
        String groups = id(InternalTopics.GROUPS) + "-0";
        broker.stop();
        copyCoordinators(groups, data, directory.resolve("before"));

        // when the topic is deleted, and the later records of the group's coordinator are lost
        broker.start();
        try (Admin admin = broker.admin()) {
            admin.deleteTopics(List.of("t")).all().get(30, TimeUnit.SECONDS);
        }
        broker.stop();
        copyCoordinators(groups, directory.resolve("before"), data);
        broker.start();

        // then nothing is committed for a new topic of that name
        broker.createTopic("t", 1, Map.of());
        produce(1);
        assertThat(committed()).isNull();
    }

    @Test
    void shouldServeCommitsWhenItCannotBeKeptThatThoseOfADeletedTopicAreForgotten() throws Exception {
        // given a group that has read two topics, and a coordinator that does not know that one is deleted
        produce(1);
        commitAll(1);
        broker.createTopic("other", 1, Map.of());
        try (Admin admin = broker.admin()) {
            admin.alterConsumerGroupOffsets(GROUP, Map.of(new TopicPartition("other", 0), new OffsetAndMetadata(7)))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
        String groups = id(InternalTopics.GROUPS) + "-0";
        broker.stop();
        copyCoordinators(groups, data, directory.resolve("before"));
        broker.start();
        try (Admin admin = broker.admin()) {
            admin.deleteTopics(List.of("t")).all().get(30, TimeUnit.SECONDS);
        }
        broker.stop();
        copyCoordinators(groups, directory.resolve("before"), data);

        // when writes for the coordinator fail
        broker.start(new RefusingStore(groups));

        // then the group is served, without the offsets of the deleted topic
        Map<TopicPartition, OffsetAndMetadata> committed;
        try (Admin admin = broker.admin()) {
            committed = admin.listConsumerGroupOffsets(GROUP)
                    .partitionsToOffsetAndMetadata()
                    .get(30, TimeUnit.SECONDS);
        }
        assertThat(committed).containsOnlyKeys(new TopicPartition("other", 0));

        // and these are deleted durably once the disk is repaired
        broker.stop();
        broker.start();
        assertThat(committed()).isNull();
    }

    @Test // seed 90013596
    void shouldMoveACommitBackAgainWhenItCouldNotBeKeptThatItWas() throws Exception {
        // given a group that commits three records without their epoch, and a power loss that loses two of them
        produce(1);
        String directoryName = id("t") + "-0";
        long oneRecordBytes = Files.size(log(directoryName));
        produce(2);
        try (Admin admin = broker.admin()) {
            admin.alterConsumerGroupOffsets(GROUP, Map.of(PARTITION, new OffsetAndMetadata(3)))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
        Path log = log(directoryName);
        String groups = id(InternalTopics.GROUPS) + "-0";
        broker.stop();
        cut(log, oneRecordBytes);

        // when the coordinator cannot write the consequence for the group, and other records are appended
        broker.start(new RefusingStore(groups));
        assertThat(committed()).isEqualTo(1L);
        produce(5);
        broker.stop();
        broker.start();

        // then the group still continues after the record that it has read
        assertThat(end()).isEqualTo(6);
        assertThat(committed()).isEqualTo(1L);
    }

    /** A store in which the files of one directory cannot be written. */
    private static final class RefusingStore extends FilterFileStore {
        private final String directoryName;

        RefusingStore(String directoryName) {
            super(new SystemFileStore());
            this.directoryName = directoryName;
        }

        @Override
        public LogFile open(Path file, boolean create) throws IOException {
            LogFile opened = super.open(file, create);
            boolean refuses = file.getParent().getFileName().toString().equals(directoryName);
            return !refuses
                    ? opened
                    : new FilterLogFile(opened) {
                        @Override
                        public void write(ByteBuffer source, long position) throws IOException {
                            throw new IOException("Input/output error");
                        }
                    };
        }
    }

    @Test // seed 1443
    void shouldKeepTransactionsInModeConsistentWhateverTheModeOfTopics() throws Exception {
        // given
        broker.stop();
        broker.with("delivery.mode", "performance").start();

        // when the first transactional producer is started
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", "x"))) {
            producer.initTransactions();
        }

        // then no epoch of this producer can be lost
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, InternalTopics.TRANSACTIONS);
        try (Admin admin = broker.admin()) {
            Config config = admin.describeConfigs(List.of(topic))
                    .all()
                    .get(30, TimeUnit.SECONDS)
                    .get(topic);
            assertThat(config.get("delivery.mode").value()).isEqualTo("consistent");
        }
    }

    private void produce(int count) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("enable.idempotence", "false"))) {
            for (int i = 0; i < count; i++) {
                producer.send(new ProducerRecord<>("t", 0, null, "value".getBytes(UTF_8)))
                        .get(30, TimeUnit.SECONDS);
            }
        }
    }

    /** Commits with the leader epoch of the last record, like Kafka's consumer. */
    private void commitAll(int count) {
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of("group.id", GROUP))) {
            consumer.assign(List.of(PARTITION));
            consumer.seekToBeginning(List.of(PARTITION));
            broker.awaitQuietly(() -> {
                consumer.poll(Duration.ofMillis(100));
                return consumer.position(PARTITION) == count;
            });
            consumer.commitSync();
        }
    }

    /** Null when there is none. */
    private Long committed() throws Exception {
        try (Admin admin = broker.admin()) {
            OffsetAndMetadata offset = admin.listConsumerGroupOffsets(GROUP)
                    .partitionsToOffsetAndMetadata()
                    .get(30, TimeUnit.SECONDS)
                    .get(PARTITION);
            return offset == null ? null : offset.offset();
        }
    }

    private long end() {
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of())) {
            return consumer.endOffsets(List.of(PARTITION)).get(PARTITION);
        }
    }

    /** The topic id, as in the names of directories. */
    private String id(String topic) throws Exception {
        try (Admin admin = broker.admin()) {
            return admin.describeTopics(List.of(topic))
                    .allTopicNames()
                    .get(30, TimeUnit.SECONDS)
                    .get(topic)
                    .topicId()
                    .toString();
        }
    }

    private Path log(String directoryName) {
        return data.resolve(directoryName).resolve("%020d.log".formatted(0));
    }

    /** Deletes everything but the first bytes of the log, including all files that could reveal its length. */
    private static void cut(Path log, long sizeBytes) throws IOException {
        try (Stream<Path> files = Files.list(log.getParent())) {
            for (Path file : files.toList()) {
                if (!file.equals(log)) {
                    Files.delete(file);
                }
            }
        }
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "rw")) {
            file.setLength(sizeBytes);
        }
    }

    /** The directories of the coordinator's partition, and of the store. */
    private static void copyCoordinators(String groups, Path from, Path to) throws IOException {
        for (String name : List.of(groups, "coordinators")) {
            replace(from.resolve(name), to.resolve(name));
        }
    }

    private static void replace(Path from, Path to) throws IOException {
        if (Files.exists(to)) {
            try (Stream<Path> files = Files.walk(to)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                Files.createDirectories(target.getParent());
                Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }
}
