package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.directory.DirectoryWatch;
import io.journalq.server.journal.ShutdownMarker;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.errors.KafkaStorageException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A data directory disappears while the broker runs. Open files still accept writes, but nothing is acknowledged. */
class LostDirectoryTest {
    private static final String TOPIC = "orders";
    private static final String IDENTITY = "journalq.identity";
    private static final byte[] VALUE = "value".getBytes(StandardCharsets.UTF_8);

    /** Far longer than {@link DirectoryWatch#INTERVAL_MS}: it ends a test that fails, and does not measure. */
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    @TempDir
    private Path directory;

    private final Path[] directories = new Path[2];
    private TestBroker broker;

    @AfterEach
    void stop() {
        broker.close();
    }

    private void startWithTwo(String mode) throws Exception {
        directories[0] = directory.resolve("first");
        directories[1] = directory.resolve("second");
        broker = new TestBroker(directories[0])
                .with("admin.listener", "127.0.0.1:0")
                .with("data.directories", directories[0] + "," + directories[1])
                .with("delivery.mode", mode)
                .start();
        broker.createTopic(TOPIC, 2, Map.of());
        produceToAll();
    }

    private void produceToAll() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            for (int partition = 0; partition < 2; partition++) {
                assertThat(client.produce(TOPIC, partition, WireClient.batch(1, VALUE))
                                .errorCode())
                        .isEqualTo(ErrorCode.NONE.code());
            }
        }
    }

    /** The number of the topic's partition in a data directory. */
    private int partitionIn(Path directory) throws IOException {
        try (Stream<Path> names = Files.list(directory)) {
            return names.map(path -> path.getFileName().toString())
                    .filter(name -> name.matches(".{22}-[01]"))
                    .mapToInt(name -> Integer.parseInt(name.substring(23)))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Waits for a word in the page. A directory is named only after all of its partitions are offline. */
    private String awaitHealth(String word) throws Exception {
        long startNanos = System.nanoTime();
        String page = broker.page("/health").body();
        while (!page.contains(word)) {
            assertThat(System.nanoTime() - startNanos).as(page).isLessThan(LIMIT_NANOS);
            Thread.sleep(20);
            page = broker.page("/health").body();
        }
        return page;
    }

    private short produce(int partition) throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            return client.produce(TOPIC, partition, WireClient.batch(1, VALUE)).errorCode();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"eventual", "consistent", "performance"})
    void shouldAcknowledgeNothingMoreWhenADirectoryIsRemoved(String mode) throws Exception {
        // given
        startWithTwo(mode);
        int lost = partitionIn(directories[1]);
        int kept = partitionIn(directories[0]);

        // when
        new SystemFileStore().delete(directories[1]);
        String health = awaitHealth("removed");

        // then
        assertThat(health).contains("degraded", directories[1].toString(), TOPIC + "-" + lost);
        assertThat(produce(lost)).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
        assertThat(broker.page("/metrics").body()).contains("journalq_data_directories_offline 1");

        // and the other directory is served, including new partitions
        assertThat(produce(kept)).isEqualTo(ErrorCode.NONE.code());
        broker.createTopic("new", 4, Map.of());
        try (WireClient client = new WireClient(broker.port())) {
            for (int partition = 0; partition < 4; partition++) {
                assertThat(client.produce("new", partition, WireClient.batch(1, VALUE))
                                .errorCode())
                        .isEqualTo(ErrorCode.NONE.code());
            }
        }
        assertThat(directories[1]).doesNotExist();
    }

    @Test
    void shouldRefuseChangesOfTheMetadataWhenItsDirectoryIsRemoved() throws Exception {
        // given
        startWithTwo("eventual");

        // when
        new SystemFileStore().delete(directories[0]);
        awaitHealth("removed");

        // then
        try (Admin admin = broker.admin()) {
            assertThatThrownBy(() -> admin.createTopics(List.of(new NewTopic("new", 1, (short) 1)))
                            .all()
                            .get())
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(KafkaStorageException.class);
        }
    }

    @Test
    void shouldBeDownWhenEveryDirectoryIsRemoved() throws Exception {
        // given
        startWithTwo("eventual");

        // when
        new SystemFileStore().delete(directories[0]);
        new SystemFileStore().delete(directories[1]);
        awaitHealth("down");

        // then
        assertThat(broker.page("/health").statusCode()).isEqualTo(503);
        assertThat(produce(0)).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
        assertThat(produce(1)).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
    }

    @Test
    void shouldLeaveAnotherDirectoryAloneWhenItTakesThePlace() throws Exception {
        // given
        startWithTwo("eventual");
        int lost = partitionIn(directories[1]);
        Path moved = directory.resolve("moved");
        Files.move(directories[1], moved);
        Files.createDirectories(directories[1]);
        Files.writeString(directories[1].resolve(IDENTITY), "another's");

        // when
        assertThat(awaitHealth("replaced")).contains("degraded");
        assertThat(produce(lost)).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
        broker.stop();

        // then
        try (Stream<Path> names = Files.list(directories[1])) {
            assertThat(names.map(path -> path.getFileName().toString())).containsExactly(IDENTITY);
        }

        // and with the right one in its place, all data is there
        new SystemFileStore().delete(directories[1]);
        Files.move(moved, directories[1]);
        broker.start();
        assertThat(produce(lost)).isEqualTo(ErrorCode.NONE.code());
    }

    @Test
    void shouldStayOfflineWhenTheDirectoryComesBack() throws Exception {
        // given
        startWithTwo("eventual");
        int lost = partitionIn(directories[1]);
        Path moved = directory.resolve("moved");
        Files.move(directories[1], moved);
        awaitHealth("removed");

        // when
        Files.move(moved, directories[1]);
        Thread.sleep(2 * DirectoryWatch.INTERVAL_MS);

        // then
        assertThat(produce(lost)).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
    }

    @Test
    void shouldCreateNoPartitionAgainWhenItsDirectoryCannotBeWrittenAtTheStart() throws Exception {
        // given
        startWithTwo("consistent");
        int first = partitionIn(directories[0]);
        int second = partitionIn(directories[1]);
        broker.stop();

        // when
        broker.start(new FilterFileStore(new SystemFileStore()) {
            @Override
            public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
                refuseMarker(file);
                super.replace(file, content, sync);
            }

            @Override
            public void delete(Path file) throws IOException {
                refuseMarker(file);
                super.delete(file);
            }

            private void refuseMarker(Path file) throws IOException {
                if (file.equals(directories[1].resolve(ShutdownMarker.FILE_NAME))) {
                    throw new IOException("Input/output error");
                }
            }
        });

        // then its partition is offline, and not a new one in the other directory
        assertThat(produce(first)).isEqualTo(ErrorCode.NONE.code());
        assertThat(produce(second)).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
        try (Stream<Path> names = Files.list(directories[0])) {
            assertThat(names.filter(path -> path.toString().endsWith("-" + second)))
                    .isEmpty();
        }
    }

    @Test
    void shouldAcknowledgeNothingMoreWhenTheFileSystemBecomesReadOnly() throws Exception {
        // given
        ReadOnlyStore store = new ReadOnlyStore();
        broker = new TestBroker(directory).with("admin.listener", "127.0.0.1:0").start(store);
        broker.createTopic(TOPIC, 2, Map.of());
        produceToAll();

        // when
        store.readOnly = true;
        String health = awaitHealth("read-only");

        // then
        assertThat(health).contains("down");
        assertThat(produce(0)).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
    }

    @Test
    void shouldServeOnWhenTooManyFilesAreOpenToCheckTheDirectory() throws Exception {
        // given
        ReadOnlyStore store = new ReadOnlyStore();
        broker = new TestBroker(directory).with("admin.listener", "127.0.0.1:0").start(store);
        broker.createTopic(TOPIC, 2, Map.of());
        produceToAll();

        // when
        store.noneOpens = true;
        // The second check begins after the first one has had its effect.
        assertThat(store.failedChecks.tryAcquire(2, LIMIT_NANOS, TimeUnit.NANOSECONDS))
                .isTrue();
        store.noneOpens = false;

        // then
        produceToAll();
    }

    /** Open files continue to work, as on a real read-only file system. */
    private static final class ReadOnlyStore extends FilterFileStore {
        private volatile boolean readOnly;
        private volatile boolean noneOpens;
        private final Semaphore failedChecks = new Semaphore(0);

        ReadOnlyStore() {
            super(new SystemFileStore());
        }

        @Override
        public LogFile open(Path file, boolean create) throws IOException {
            if (readOnly) {
                throw new FileSystemException(file.toString(), null, "Read-only file system");
            }
            if (noneOpens) {
                throw new FileSystemException(file.toString(), null, "Too many open files");
            }
            return super.open(file, create);
        }

        @Override
        public byte[] read(Path file, int maxSizeBytes) throws IOException {
            if (noneOpens) {
                if (file.endsWith(IDENTITY)) {
                    failedChecks.release();
                }
                throw new FileSystemException(file.toString(), null, "Too many open files");
            }
            return super.read(file, maxSizeBytes);
        }

        @Override
        public boolean isReadOnly(Path directory) {
            return readOnly;
        }
    }
}
