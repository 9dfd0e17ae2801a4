package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.journalq.common.id.Uuid;
import io.journalq.server.directory.DataDirectories;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A broker recognises its data directories, and starts with no others. */
class DataDirectoriesTest {
    private static final String TOPIC = "orders";
    private static final String IDENTITY = "journalq.identity";

    @TempDir
    private Path directory;

    private Path first;
    private Path second;
    private TestBroker broker;

    @BeforeEach
    void prepare() {
        first = directory.resolve("first");
        second = directory.resolve("second");
        broker = new TestBroker(first);
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private void startWith(Path... directories) throws Exception {
        broker.with(
                        "data.directories",
                        String.join(
                                ",", Stream.of(directories).map(Path::toString).toList()))
                .start();
    }

    /** Starts a new broker, stores a message in each of some partitions, and stops it. */
    private void keepMessages(Path... directories) throws Exception {
        startWith(directories);
        broker.createTopic(TOPIC, 8, Map.of());
        try (WireClient client = new WireClient(broker.port())) {
            for (int partition = 0; partition < 8; partition++) {
                client.produce(TOPIC, partition, WireClient.batch(1, "kept".getBytes(StandardCharsets.UTF_8)));
            }
        }
        broker.stop();
    }

    private static void delete(Path path) throws IOException {
        new SystemFileStore().delete(path);
    }

    private void assertRefused(Path directory, String... words) {
        assertThatThrownBy(() -> startWith(directory))
                .isInstanceOf(StartException.class)
                .hasMessageContainingAll(words)
                .message()
                .doesNotContain("\n");
    }

    @Test
    void shouldRefuseToStartWhenTheMetadataIsMissing() throws Exception {
        // given
        keepMessages(first);
        delete(first.resolve("metadata"));

        // then
        assertRefused(first, first.resolve("metadata").toString(), "is missing", "8 partition directories", "restore");
        assertThat(first.resolve("metadata")).doesNotExist();
    }

    @Test
    void shouldRefuseToStartWhenTheMetadataOfADirectoryWithoutIdentityIsMissing() throws Exception {
        // given a directory of a release that wrote no identity
        keepMessages(first);
        delete(first.resolve(IDENTITY));
        delete(first.resolve("metadata"));

        // then
        assertRefused(first, first.resolve("metadata").toString(), "is missing", "8 partition directories", "restore");
    }

    @Test
    void shouldRefuseToStartWhenTheMetadataIsEmpty() throws Exception {
        // given
        keepMessages(first);
        try (Stream<Path> files = Files.list(first.resolve("metadata"))) {
            for (Path file : files.toList()) {
                delete(file);
            }
        }
        Files.createFile(first.resolve("metadata").resolve("00000000000000000000.log"));

        // then
        assertRefused(first, first.resolve("metadata").toString(), "is missing", "restore");
    }

    @Test
    void shouldRefuseToStartWhenTheMetadataIsAnothersCluster() throws Exception {
        // given
        keepMessages(first);
        keepMessages(second);
        delete(first.resolve("metadata"));
        Files.move(second.resolve("metadata"), first.resolve("metadata"));

        // then
        assertRefused(first, "belongs to cluster", first.resolve("metadata").toString(), "restore");
    }

    @Test
    void shouldRefuseToStartWhenADirectoryIsAnotherNodes() throws Exception {
        // given
        keepMessages(first);
        broker.with("node.id", "7");

        // then
        assertRefused(first, "belongs to node 0", "node.id=0");
    }

    @Test
    void shouldRefuseToStartWhenOneOfSeveralDirectoriesIsAnotherClusters() throws Exception {
        // given
        keepMessages(first);
        keepMessages(second);

        // then
        assertThatThrownBy(() -> startWith(first, second))
                .isInstanceOf(StartException.class)
                .hasMessageContainingAll(first.toString(), second.toString(), "belongs to cluster");
    }

    @Test
    void shouldRefuseToStartWhenTheOrderOfDirectoriesChanged() throws Exception {
        // given
        keepMessages(first, second);

        // then
        assertThatThrownBy(() -> startWith(second, first))
                .isInstanceOf(StartException.class)
                .hasMessageContainingAll(first.toString(), "name that one first");
    }

    @Test
    void shouldRefuseToStartWhenOneOfSeveralDirectoriesIsLost() throws Exception {
        // given
        keepMessages(first, second);
        delete(second);

        // then
        assertThatThrownBy(() -> startWith(first, second))
                .isInstanceOf(StartException.class)
                .hasMessageContainingAll("none of the data directories has the id", "mount or restore");

        // and when the operator gives it up, the other directories are served
        delete(first.resolve(IDENTITY));
        startWith(first, second);
    }

    @Test
    void shouldRefuseToStartWhenADirectoryIsTheCopyOfAnother() throws Exception {
        // given
        keepMessages(first);
        Files.createDirectories(second);
        Files.copy(first.resolve(IDENTITY), second.resolve(IDENTITY));

        // then
        assertThatThrownBy(() -> startWith(first, second))
                .isInstanceOf(StartException.class)
                .hasMessageContaining("copy of the other");
    }

    @Test
    void shouldRefuseToStartWhenAnyByteOfTheIdentityIsDamaged() throws Exception {
        // given
        keepMessages(first);
        byte[] sound = Files.readAllBytes(first.resolve(IDENTITY));
        for (int at = 0; at < sound.length; at += 7) {
            byte[] damaged = sound.clone();
            damaged[at] ^= 4;
            Files.write(first.resolve(IDENTITY), damaged);

            // then
            assertRefused(first, IDENTITY, "damaged");
        }
    }

    @Test
    void shouldRefuseToStartWhenTheIdentityIsOfANewerRelease() throws Exception {
        // given
        keepMessages(first);
        String lines = "version=2\nwho=knows\n";
        java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
        crc.update(lines.getBytes(StandardCharsets.UTF_8));
        Files.writeString(first.resolve(IDENTITY), lines + String.format("crc32c=%08x%n", crc.getValue()));

        // then
        assertRefused(first, "version 2", "start the newer release");
    }

    @Test
    void shouldGiveAnIdentityToDirectoriesThatHaveNone() throws Exception {
        // given directories of a release that wrote no identity
        keepMessages(first, second);
        delete(first.resolve(IDENTITY));
        delete(second.resolve(IDENTITY));

        // when
        startWith(first, second);

        // then
        assertThat(broker.readAll(List.of(new TopicPartition(TOPIC, 0)), 1)).hasSize(1);
        assertThat(first.resolve(IDENTITY)).exists();
        assertThat(second.resolve(IDENTITY)).exists();
        broker.stop();
        startWith(first, second);
    }

    @Test
    void shouldKeepTheIdentityWhenADirectoryIsAdded() throws Exception {
        // given
        keepMessages(first);
        String before = Files.readString(first.resolve(IDENTITY));

        // when
        startWith(first, second);

        // then
        String id = before.lines()
                .filter(line -> line.startsWith("directory.id="))
                .findFirst()
                .orElseThrow();
        assertThat(Files.readString(first.resolve(IDENTITY))).contains(id).isNotEqualTo(before);
        assertThat(Files.readString(second.resolve(IDENTITY))).doesNotContain(id);
    }

    @Test
    void shouldStartWhenTheProcessWasKilledBeforeTheMetadataWasWritten() throws Exception {
        // given
        Files.createDirectories(first.resolve("metadata"));
        Files.createFile(first.resolve("metadata").resolve("00000000000000000000.tail"));

        // when
        startWith(first);

        // then
        assertThat(first.resolve(IDENTITY)).exists();
    }

    private List<String> linesOfAStart() throws Exception {
        Logger logger = (Logger) LoggerFactory.getLogger(DataDirectories.class);
        Level before = logger.getLevel();
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        logger.setLevel(Level.WARN);
        try {
            startWith(first);
            broker.stop();
        } finally {
            logger.detachAppender(logged);
            logger.setLevel(before);
        }
        return logged.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void shouldNameDirectoriesOfPartitionsThatNoTopicHasAndKeepThem() throws Exception {
        // given
        keepMessages(first);
        Path orphan = first.resolve(new Uuid(1, 2) + "-3");
        Files.createDirectories(orphan);

        // when
        List<String> lines = linesOfAStart();

        // then
        assertThat(lines)
                .filteredOn(line -> line.contains("belong to no topic"))
                .singleElement()
                .asString()
                .contains("count=1", orphan.getFileName().toString());
        assertThat(orphan).exists();
    }

    @Test
    void shouldNameNothingWhenEveryPartitionHasItsTopic() throws Exception {
        // given
        keepMessages(first);

        // when
        List<String> lines = linesOfAStart();

        // then
        assertThat(lines).noneMatch(line -> line.contains("belong to no topic"));
    }
}
