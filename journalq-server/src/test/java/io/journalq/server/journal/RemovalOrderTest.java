package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a removal of records makes durable, and when, so that a power loss does not bring back a part of them. */
class RemovalOrderTest {
    private static final Path DIRECTORY = Path.of("data", "topic-0");
    private static final int VALUE_BYTES = 50;

    private final List<String> calls = new ArrayList<>();
    private final Queue<Runnable> background = new ArrayDeque<>();
    private Journal journal;

    private final FileStore store = new FilterFileStore(new MemoryFileStore()) {
        @Override
        public LogFile open(Path file, boolean create) throws IOException {
            return new FilterLogFile(super.open(file, create)) {
                @Override
                public void truncate(long sizeBytes) throws IOException {
                    calls.add("truncate " + shortName(file));
                    super.truncate(sizeBytes);
                }

                @Override
                public void sync() throws IOException {
                    calls.add("sync " + shortName(file));
                    super.sync();
                }
            };
        }

        @Override
        public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
            calls.add((sync ? "replace durably " : "replace ") + shortName(file));
            super.replace(file, content, sync);
        }

        @Override
        public void move(Path from, Path to) throws IOException {
            calls.add("name " + shortName(to));
            super.move(from, to);
        }

        @Override
        public void delete(Path path) throws IOException {
            calls.add("delete " + shortName(path));
            super.delete(path);
        }

        @Override
        public void syncDirectory(Path directory) throws IOException {
            calls.add("sync directory");
            super.syncDirectory(directory);
        }
    };

    private static String shortName(Path file) {
        return file.getFileName().toString().replaceFirst("^0+(?=\\d)", "");
    }

    /** Three segments with three batches each, all synced. */
    @BeforeEach
    void write() throws IOException {
        JournalConfig config = JournalConfig.DEFAULT.withSegmentSizeBytes(400).withCheckpointIntervalBytes(1);
        journal = Journal.open(store, DIRECTORY, config, background::add);
        append(journal, 9, 1, VALUE_BYTES);
        journal.flush();
        background.forEach(Runnable::run);
        background.clear();
        assertThat(journal.segmentCount()).isEqualTo(3);
        calls.clear();
    }

    @Test
    void shouldSyncWhatATruncationLeavesBeforeTheCheckpointSaysSo() throws IOException {
        journal.truncateTo(7);

        assertThat(calls)
                .containsSubsequence(
                        "replace durably journal.checkpoint",
                        "truncate 6.log",
                        "sync 6.log",
                        "replace durably journal.checkpoint");
    }

    @Test
    void shouldMakeNewNamesDurableBeforeSegmentsAreDeleted() {
        journal.deleteRecordsBefore(6);
        background.forEach(Runnable::run);

        assertThat(calls.stream().dropWhile(call -> !call.startsWith("name")).filter(call -> !call.contains(".index")))
                .containsExactly(
                        "name 0.log.deleted",
                        "name 3.log.deleted",
                        "sync directory",
                        "delete 0.log.deleted",
                        "delete 3.log.deleted");
    }

    @Test
    void shouldWriteEachCheckpointDurablyWhileSegmentsAreBeingDeleted() throws IOException {
        // given a deletion that has not begun. The log begins where a segment does
        journal.deleteRecordsBefore(6);
        calls.clear();

        // when
        append(journal, 1, 1, VALUE_BYTES);
        journal.flush();

        // then
        assertThat(calls).contains("replace durably journal.checkpoint").doesNotContain("replace journal.checkpoint");
    }
}
