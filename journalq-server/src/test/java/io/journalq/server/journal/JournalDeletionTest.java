package io.journalq.server.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A deletion that a power loss interrupts leaves a whole journal or none. */
class JournalDeletionTest {
    private static final Path DATA = Path.of("data");
    private static final Path DIRECTORY = DATA.resolve("topic-0");
    private static final Path RENAMED = DATA.resolve("topic-0.deleted");

    private final List<String> changes = new ArrayList<>();
    private final MemoryFileStore files = new MemoryFileStore();
    private final FilterFileStore store = new FilterFileStore(files) {
        @Override
        public void move(Path from, Path to) throws IOException {
            super.move(from, to);
            changes.add("move " + from + " to " + to);
        }

        @Override
        public void delete(Path path) throws IOException {
            if (super.isDirectory(path)) {
                changes.add("delete " + path);
            }
            super.delete(path);
        }

        @Override
        public void syncDirectory(Path directory) throws IOException {
            super.syncDirectory(directory);
            changes.add("sync " + directory);
        }
    };

    private Journal open() throws IOException {
        Journal journal = Journal.open(store, DIRECTORY, JournalConfig.DEFAULT, Runnable::run);
        changes.clear();
        return journal;
    }

    private void assertDeleted() {
        assertThat(changes)
                .containsExactly("move " + DIRECTORY + " to " + RENAMED, "sync " + DATA, "delete " + RENAMED);
    }

    @Test
    void shouldMakeTheNewNameDurableBeforeFilesAreDeleted() throws IOException {
        open().delete();
        assertDeleted();
    }

    @Test
    void shouldDoSoWhenTheJournalIsNotOpen() throws IOException {
        open().close();
        changes.clear();
        DeletedJournal.delete(store, DIRECTORY);
        assertDeleted();

        changes.clear();
        DeletedJournal.delete(store, DIRECTORY);
        assertThat(changes).as("there is none").isEmpty();
    }
}
