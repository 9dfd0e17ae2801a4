package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.record.BatchRules;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.shard.append.AppendSettings;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.flush.WalSyncers;
import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The directories of new partitions: durable before a partition is open, with few syncs. */
class CreatedPartitionsTest {
    private static final List<Path> DATA = List.of(Path.of("data-0"), Path.of("data-1"));
    private static final Uuid TOPIC_ID = new Uuid(7, 7);
    private static final List<Integer> NUMBERS = IntStream.range(0, 100).boxed().toList();

    private final Disk disk = new Disk();
    private final PartitionFiles files = files();

    private PartitionFiles files() {
        Clock clock = Clock.systemUTC();
        WalSyncers none = new WalSyncers(disk, DATA, 0, 1, work -> {}, clock);
        return new PartitionFiles(disk, DATA, work -> {}, clock, Map.of(), none);
    }

    /** Knows which directories would survive a power loss. */
    private static final class Disk extends FilterFileStore {
        private final Set<Path> durable = new HashSet<>();
        private int syncs;
        private boolean failing;

        Disk() {
            super(new MemoryFileStore());
        }

        @Override
        public void syncDirectory(Path directory) throws IOException {
            if (failing) {
                throw new IOException("planned");
            }
            syncs++;
            for (int number : NUMBERS) {
                Path child = directory.resolve(StoredPartition.directoryName(TOPIC_ID, number));
                if (isDirectory(child)) {
                    durable.add(child);
                }
            }
        }
    }

    private void open(PartitionFiles from, int number) throws IOException {
        PartitionSettings settings = new PartitionSettings(
                new AppendSettings(BatchRules.DEFAULT, null, DeliveryMode.CONSISTENT, 1),
                1,
                true,
                JournalConfig.DEFAULT,
                1,
                ThrottledReplicas.NONE);
        Path directory = from.open(new TopicPartition("t", number), TOPIC_ID, settings, 0, true)
                .journal()
                .directory();
        assertThat(disk.durable).contains(directory);
    }

    private void openAll(PartitionFiles from) throws IOException {
        for (int number : NUMBERS) {
            open(from, number);
        }
    }

    @Test
    void shouldSyncEachDataDirectoryOnceWhenManyPartitionsAreCreated() throws IOException {
        files.createDirectories(Map.of(TOPIC_ID, NUMBERS));
        openAll(files);

        assertThat(disk.durable).hasSize(NUMBERS.size());
        assertThat(disk.syncs).isEqualTo(DATA.size());
    }

    @Test
    void shouldMakeADirectoryDurableWhenItWasNotCreatedWithOthers() throws IOException {
        openAll(files);
    }

    @Test
    void shouldMakeDirectoriesDurableAgainWhenAnEarlierProcessWasKilled() throws IOException {
        disk.failing = true;
        files.createDirectories(Map.of(TOPIC_ID, NUMBERS));
        disk.failing = false;

        PartitionFiles next = files();
        next.createDirectories(Map.of(TOPIC_ID, NUMBERS));
        openAll(next);

        assertThat(disk.syncs).isEqualTo(DATA.size());
    }

    @Test
    void shouldNotOpenAPartitionBeforeItsDirectoryIsDurable() throws IOException {
        disk.failing = true;
        files.createDirectories(Map.of(TOPIC_ID, NUMBERS));
        assertThatThrownBy(() -> open(files, 0)).isInstanceOf(IOException.class).hasMessage("planned");

        disk.failing = false;
        openAll(files);
    }
}
