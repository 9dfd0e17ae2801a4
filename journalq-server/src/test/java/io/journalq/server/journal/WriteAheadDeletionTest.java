package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.wal.WriteAheadLog;
import io.journalq.server.journal.wal.WriteAheadScan;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A power loss while write-ahead files are deleted brings back nothing that was truncated. */
class WriteAheadDeletionTest {
    private static final Path DATA = Path.of("data");
    private static final Path DIRECTORY = DATA.resolve("topic-0");
    private static final Path LOG = Segment.logPath(DIRECTORY, 0);
    private static final Path WRITE_AHEAD = DATA.resolve(WriteAheadLog.DIRECTORY_NAME);
    private static final int MOST_BYTES = 1 << 20;
    private static final int FILE_BYTES = 1_000;

    private final MemoryFileStore store = new MemoryFileStore();
    private final LosingStore losing = new LosingStore(store);

    /** Ends after a number of deletions and syncs. A power loss undoes any deletions that are not synced. */
    private static final class LosingStore extends FilterFileStore {
        private final Map<Path, byte[]> unsynced = new LinkedHashMap<>();
        private int changesLeft = Integer.MAX_VALUE;

        LosingStore(FileStore delegate) {
            super(delegate);
        }

        void endAfter(int changes) {
            changesLeft = changes;
        }

        private void change() throws IOException {
            if (changesLeft == 0) {
                throw new IOException("no power");
            }
            changesLeft--;
        }

        @Override
        public void delete(Path path) throws IOException {
            change();
            unsynced.put(path, delegate.read(path, MOST_BYTES));
            delegate.delete(path);
        }

        @Override
        public void syncDirectory(Path directory) throws IOException {
            change();
            delegate.syncDirectory(directory);
            unsynced.keySet().removeIf(path -> path.startsWith(directory));
        }

        /** Undoes all deletions that are not synced but that of {@code exception}. */
        void losePower(Path exception) throws IOException {
            for (Map.Entry<Path, byte[]> deleted : unsynced.entrySet()) {
                if (!deleted.getKey().equals(exception)) {
                    delegate.replace(deleted.getKey(), ByteBuffer.wrap(deleted.getValue()), true);
                }
            }
        }
    }

    /** Does what deletes the write-ahead files. */
    @FunctionalInterface
    private interface Deletion {
        void run(WriteAheadLog log) throws IOException;
    }

    private static Path file(int number) {
        return WRITE_AHEAD.resolve("0" + number + WriteAheadLog.FILE_SUFFIX);
    }

    /** Leaves a file whose records are void, because of the cut in the next file. */
    private WriteAheadLog writeAndTruncate() throws IOException {
        WriteAheadLog log = new WriteAheadLog(losing, DATA, (long) FILE_BYTES * WriteAheadLog.FILE_COUNT);
        log.makeSpare();
        Journal journal = Journal.open(store, DIRECTORY, JournalConfig.DEFAULT, Runnable::run);
        journal.setObserver(new CommittedWrites(log, new TestCover(), DIRECTORY));
        append(journal, 2, 2, 50);
        append(journal, 2, 2, 85);
        journal.flush();
        log.makeSpare();
        journal.truncateTo(4);
        assertThat(WriteAheadScan.files(store, DATA)).containsExactly(file(1), file(2));
        return log;
    }

    private void check(Deletion deletion) throws IOException {
        boolean ended = false;
        for (int changes = 0; !ended; changes++) {
            for (Path exception : new Path[] {file(1), file(2)}) {
                // given
                store.delete(DATA);
                losing.endAfter(Integer.MAX_VALUE);
                losing.unsynced.clear();
                WriteAheadLog log = writeAndTruncate();
                byte[] truncated = store.read(LOG, MOST_BYTES);
                losing.endAfter(changes);

                // when
                try {
                    deletion.run(log);
                    ended = true;
                } catch (IOException noPower) {
                    assertThat(noPower).hasMessage("no power");
                }
                losing.losePower(exception);
                WalReplay.run(store, DATA);

                // then
                assertThat(store.read(LOG, MOST_BYTES))
                        .as("after %d changes; only the deletion of %s remained", changes, exception)
                        .isEqualTo(truncated);
                assertThat(store.list(WRITE_AHEAD)).isEmpty();
            }
        }
    }

    @Test
    void shouldBringBackNothingWhenAReplayIsInterrupted() throws IOException {
        check(log -> WalReplay.run(losing, DATA));
    }

    @Test
    void shouldBringBackNothingWhenAStopIsInterrupted() throws IOException {
        check(WriteAheadLog::close);
    }
}
