package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a start reads. On any machine, the duration of a start with very many partitions is proportional to it. */
class RestartWorkTest {
    private static final int PARTITIONS = 40;
    private static final int BATCHES = 5;
    private static final int VALUE_SIZE_BYTES = 20_000;
    private static final long WRITTEN_BYTES = (long) PARTITIONS * BATCHES * VALUE_SIZE_BYTES;

    /** Size of a partition's checkpoint and snapshot, for journals of few segments. */
    private static final int SMALL_FILES_BYTES = 2_000;

    private final AtomicLong logBytes = new AtomicLong();
    private final AtomicLong logsOpened = new AtomicLong();
    private final AtomicLong smallFileBytes = new AtomicLong();

    @Test
    void shouldReadNoLogWhenItWasStoppedInOrder(@TempDir Path directory) throws Exception {
        try (TestBroker broker = new TestBroker(directory).start()) {
            fill(broker);
            broker.stop();

            broker.start(countingStore());

            assertThat(logBytes).hasValue(0);
            assertThat(logsOpened).hasValue(0);
            assertThat(smallFileBytes).hasPositiveValue().hasValueLessThan((long) PARTITIONS * SMALL_FILES_BYTES);
            // and all data is there, and records can be appended
            assertThat(produce(broker, PARTITIONS - 1)).isEqualTo(BATCHES);
        }
    }

    @Test
    void shouldReadNoMoreThanWasWrittenSinceTheCheckpointWhenItWasKilled(@TempDir Path directory, @TempDir Path copy)
            throws Exception {
        try (TestBroker broker = new TestBroker(directory).start()) {
            fill(broker);
            // A killed broker leaves the files as they are while it runs.
            copy(directory, copy);
        }
        try (TestBroker broker = new TestBroker(copy).start(countingStore())) {
            // Once to check it, and once for the state of idempotent producers.
            assertThat(logBytes.get()).isBetween(WRITTEN_BYTES, 2 * WRITTEN_BYTES + WRITTEN_BYTES / 10);
            assertThat(produce(broker, PARTITIONS - 1)).isEqualTo(BATCHES);
        }
    }

    private static void fill(TestBroker broker) throws Exception {
        broker.createTopic("t", PARTITIONS, Map.of());
        for (int partition = 0; partition < PARTITIONS; partition++) {
            for (int i = 0; i < BATCHES; i++) {
                assertThat(produce(broker, partition)).isEqualTo(i);
            }
        }
    }

    private static long produce(TestBroker broker, int partition) throws IOException {
        try (WireClient client = new WireClient(broker.port())) {
            var response = client.produce("t", partition, WireClient.batch(1, new byte[VALUE_SIZE_BYTES]));
            assertThat(response.errorCode()).isEqualTo(ErrorCode.NONE.code());
            return response.baseOffset();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> paths = Files.walk(from)) {
            for (Path path : paths.toList()) {
                Path target = to.resolve(from.relativize(path));
                if (Files.isDirectory(path)) {
                    Files.createDirectories(target);
                } else {
                    try {
                        Files.copy(path, target);
                    } catch (NoSuchFileException replaced) {
                        // A file that is being written, which a kill may leave or not.
                        assertThat(path.toString()).endsWith(".tmp");
                    }
                }
            }
        }
    }

    /** Counts what is read of partitions; the metadata is counted separately. */
    private FileStore countingStore() {
        return new FilterFileStore(new SystemFileStore()) {
            @Override
            public byte[] read(Path file, int maxSizeBytes) throws IOException {
                byte[] content = super.read(file, maxSizeBytes);
                if (isOfPartition(file)) {
                    smallFileBytes.addAndGet(content.length);
                }
                return content;
            }

            @Override
            public LogFile open(Path file, boolean create) throws IOException {
                LogFile opened = super.open(file, create);
                if (!isOfPartition(file) || !file.toString().endsWith(".log")) {
                    return opened;
                }
                logsOpened.incrementAndGet();
                return new FilterLogFile(opened) {
                    @Override
                    public int read(ByteBuffer target, long position) throws IOException {
                        int count = super.read(target, position);
                        logBytes.addAndGet(count);
                        return count;
                    }
                };
            }
        };
    }

    private static boolean isOfPartition(Path file) {
        return !file.toString().contains("metadata");
    }
}
