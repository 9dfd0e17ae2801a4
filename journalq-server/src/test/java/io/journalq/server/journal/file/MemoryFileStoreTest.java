package io.journalq.server.journal.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class MemoryFileStoreTest {
    private static final Path DATA = Path.of("data");
    private static final Path DIRECTORY = DATA.resolve("t-0");
    private static final Path OTHER = DATA.resolve("t-1");

    private final MemoryFileStore store = new MemoryFileStore();

    @Test
    void shouldMoveADirectoryWithoutFiles() throws IOException {
        // given
        store.createDirectories(DIRECTORY);

        // when
        store.move(DIRECTORY, OTHER);

        // then
        assertThat(store.isDirectory(DIRECTORY)).isFalse();
        assertThat(store.list(DATA)).containsExactly("t-1");
    }

    @Test
    void shouldMoveWhatADirectoryHolds() throws IOException {
        // given
        store.createDirectories(DIRECTORY.resolve("inner"));
        store.open(DIRECTORY.resolve("a.log"), true).close();

        // when
        store.move(DIRECTORY, OTHER);

        // then
        assertThat(store.list(OTHER)).containsExactly("a.log", "inner");
        assertThat(store.isDirectory(DIRECTORY)).isFalse();
    }

    @Test
    void shouldForgetADeletedDirectory() {
        // given
        store.createDirectories(DIRECTORY);

        // when
        store.delete(DIRECTORY);

        // then
        assertThat(store.isDirectory(DIRECTORY)).isFalse();
        assertThat(store.isDirectory(DATA)).isTrue();
        assertThatThrownBy(() -> store.move(DIRECTORY, OTHER)).isInstanceOf(NoSuchFileException.class);
    }
}
