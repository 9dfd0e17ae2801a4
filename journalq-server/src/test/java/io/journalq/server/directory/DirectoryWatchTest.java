package io.journalq.server.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.shard.partition.SteppedLoop;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryWatchTest {
    @TempDir
    private Path directory;

    private static final long MIN_FREE_BYTES = 1_000;

    private final SteppedLoop loop = new SteppedLoop();
    private long usableBytes = Long.MAX_VALUE;
    private final FileStore store = new FilterFileStore(new SystemFileStore()) {
        @Override
        public long usableBytes(Path asked) {
            return usableBytes;
        }
    };
    private final AtomicReference<Set<Path>> listedBefore = new AtomicReference<>();
    private DirectoryWatch watch;

    private void startWatch() throws Exception {
        DataDirectories directories = DataDirectories.open(store, List.of(directory), List.of("metadata"), 1);
        directories.identify("cluster", () -> new Uuid(1, 2));
        watch = new DirectoryWatch(
                directories,
                1,
                MIN_FREE_BYTES,
                loop,
                Runnable::run,
                (lost, reason) -> listedBefore.set(watch.lost().keySet()));
        watch.start();
    }

    @Test
    void shouldListADirectoryAfterNothingMoreIsAcknowledgedThere() throws Exception {
        // given
        startWatch();
        loop.fireTimers();
        assertThat(watch.lost()).isEmpty();

        // when
        Files.delete(directory.resolve(DirectoryIdentity.FILE_NAME));
        loop.fireTimers();

        // then
        assertThat(listedBefore.get()).isEmpty();
        assertThat(watch.lost()).containsOnlyKeys(directory);
        assertThat(watch.isAllLost()).isTrue();
    }

    @Test
    void shouldListADirectoryWithoutRoomUntilTwiceAsMuchIsFree() throws Exception {
        startWatch();
        usableBytes = MIN_FREE_BYTES;
        loop.fireTimers();
        assertThat(watch.full()).isEmpty();

        usableBytes--;
        loop.fireTimers();
        assertThat(watch.full()).hasSize(1);

        usableBytes = 2 * MIN_FREE_BYTES - 1;
        loop.fireTimers();
        assertThat(watch.full()).hasSize(1);
        usableBytes++;
        loop.fireTimers();
        assertThat(watch.full()).isEmpty();
    }
}
