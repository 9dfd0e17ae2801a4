package io.journalq.bench.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.journal.wal.WriteAheadLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildProcessTest {
    private static final int MORE_THAN_SETTLED_BYTES = 65 << 20;

    @TempDir
    private Path directory;

    private void write(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Files.write(file, new byte[MORE_THAN_SETTLED_BYTES]);
    }

    @Test
    void shouldBeSettledWhenOnlyWriteAheadFilesAreLarge() throws IOException {
        write(directory.resolve("data/" + WriteAheadLog.DIRECTORY_NAME + "/01" + WriteAheadLog.FILE_SUFFIX));

        assertThat(ChildProcess.isSettled(directory)).isTrue();
    }

    @Test
    void shouldNotBeSettledWhileFilesOfATopicAreLeft() throws IOException {
        Path segment = directory.resolve("data/topic-0/00000000000000000000.log");
        write(segment);
        boolean before = ChildProcess.isSettled(directory);
        Files.delete(segment);

        assertThat(before).isFalse();
        assertThat(ChildProcess.isSettled(directory)).isTrue();
    }
}
