package io.journalq.server.journal.wal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.journal.FaultyFileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** How many files are created, when journals are asked to flush, and which failures are permanent. */
class WriteAheadLogTest {
    private static final Path DATA = Path.of("data");
    private static final Path DIRECTORY = DATA.resolve(WriteAheadLog.DIRECTORY_NAME);
    private static final byte[] JOURNAL = {'t'};

    /** Room for two records of a journal. */
    private static final int FILE_SIZE_BYTES = 500;

    private static final int RECORD_BYTES = 200;

    private final MemoryFileStore store = new MemoryFileStore();

    /** A journal that flushes when it is asked to. */
    private static final class Prompt implements CoveredJournal {
        private long writtenOffset;
        private long flushedOffset;
        private int asked;
        private boolean flushes = true;

        @Override
        public long flushedOffset() {
            return flushedOffset;
        }

        @Override
        public boolean isGone() {
            return false;
        }

        @Override
        public void flushSoon() {
            asked++;
            flushedOffset = flushes ? writtenOffset : flushedOffset;
        }
    }

    private static List<WriteAheadFrames> record(Prompt journal) {
        WriteAheadFrames frames = new WriteAheadFrames(1_000);
        ByteBuf batch = Unpooled.wrappedBuffer(new byte[RECORD_BYTES]);
        long endOffset = ++journal.writtenOffset;
        assertThat(frames.add(new WriteAheadFrames.Entry(journal, endOffset), JOURNAL, 0, 0, List.of(batch)))
                .isTrue();
        return List.of(frames);
    }

    private static void commit(WriteAheadLog log, Prompt journal) throws IOException {
        if (log.wantsSpare()) {
            log.makeSpare();
        }
        assertThat(log.commit(record(journal))).isTrue();
    }

    @Test
    void shouldNeedTwoFilesWhenOneJournalIsWritten() throws IOException {
        // given
        WriteAheadLog log = new WriteAheadLog(store, DATA, (long) WriteAheadLog.FILE_COUNT * FILE_SIZE_BYTES);
        Prompt journal = new Prompt();

        // when
        for (int i = 0; i < 50; i++) {
            commit(log, journal);
        }

        // then
        assertThat(store.list(DIRECTORY)).containsExactly("01.wal", "02.wal");
        assertThat(journal.asked).isLessThan(30);
    }

    @Test
    void shouldAskManyJournalsOnlyWhenHalfOfTheFilesAreFull() throws IOException {
        // given files with room for one record each
        int count = 10;
        WriteAheadLog log = new WriteAheadLog(store, DATA, (long) WriteAheadLog.FILE_COUNT * 250 * count);
        List<Prompt> journals = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            journals.add(new Prompt());
        }

        // when
        for (int i = 0; i < 40; i++) {
            for (Prompt journal : journals) {
                commit(log, journal);
            }
        }

        // then
        assertThat(store.list(DIRECTORY)).hasSizeBetween(4, WriteAheadLog.FILE_COUNT);
        assertThat(journals).allMatch(journal -> journal.asked > 0 && journal.asked <= 15);
    }

    private static List<WriteAheadFrames> cut(Prompt journal) {
        WriteAheadFrames frames = new WriteAheadFrames(1_000);
        assertThat(frames.addCut(journal, JOURNAL, 0)).isTrue();
        return List.of(frames);
    }

    /** A journal that does not flush. */
    private static Prompt stubborn() {
        Prompt journal = new Prompt();
        journal.flushes = false;
        return journal;
    }

    @Test
    void shouldKeepACutUntilEveryOlderRecordIsOverwritten() throws IOException {
        // given a file with records of two journals, and behind it one with a cut of the first
        WriteAheadLog log = new WriteAheadLog(store, DATA, (long) WriteAheadLog.FILE_COUNT * FILE_SIZE_BYTES);
        Prompt truncated = stubborn();
        Prompt other = stubborn();
        commit(log, truncated);
        commit(log, other);
        Prompt prompt = new Prompt();
        commit(log, prompt);
        assertThat(log.commit(cut(truncated))).isTrue();

        // when the other journal keeps the older file in use, and the rest of the files is used again and again
        for (int i = 0; i < 40; i++) {
            commit(log, prompt);
        }

        // then the cut is still there
        assertThat(cuts()).isEqualTo(1);

        // and when the other journal is flushed, both files are used again, though the first journal is not flushed
        other.flushedOffset = other.writtenOffset;
        for (int i = 0; i < 40; i++) {
            commit(log, prompt);
        }
        assertThat(cuts()).isZero();
    }

    @Test
    void shouldKeepACutWhenAFileWithOlderRecordsCannotBeReused() throws IOException {
        // given a file with a record of a journal, and behind it one with a cut of that journal
        AtomicBoolean fails = new AtomicBoolean();
        WriteAheadLog log = new WriteAheadLog(
                new FilterFileStore(store) {
                    @Override
                    public LogFile open(Path file, boolean create) throws IOException {
                        return new FilterLogFile(super.open(file, create)) {
                            @Override
                            public void write(ByteBuffer source, long position) throws IOException {
                                if (fails.get()) {
                                    throw new IOException("Input/output error");
                                }
                                super.write(source, position);
                            }
                        };
                    }
                },
                DATA,
                (long) WriteAheadLog.FILE_COUNT * FILE_SIZE_BYTES);
        Prompt truncated = stubborn();
        Prompt prompt = new Prompt();
        commit(log, truncated);
        commit(log, prompt);
        commit(log, prompt);
        assertThat(log.commit(cut(truncated))).isTrue();

        // when the first file cannot be written at its next use
        fails.set(true);
        assertThat(log.commit(record(prompt))).isFalse();
        fails.set(false);
        commit(log, prompt);

        // then the cut is there as long as that record is
        assertThat(cuts()).isEqualTo(1);

        // and both files are used again later
        for (int i = 0; i < 40; i++) {
            commit(log, prompt);
        }
        assertThat(cuts()).isZero();
        assertThat(store.list(DIRECTORY)).hasSizeLessThan(WriteAheadLog.FILE_COUNT);
    }

    private long cuts() throws IOException {
        long count = 0;
        for (Path file : WriteAheadScan.files(store, DATA)) {
            try (WriteAheadScan scan = WriteAheadScan.open(store, file)) {
                for (WriteAheadRecord record = scan.next(); record != null; record = scan.next()) {
                    count += record.isCut() ? 1 : 0;
                }
            }
        }
        return count;
    }

    @Test
    void shouldTakeNothingMoreWhenASyncFailed() throws IOException {
        // given
        FaultyFileStore faulty = new FaultyFileStore(store);
        WriteAheadLog log = new WriteAheadLog(faulty, DATA, 1 << 20);
        log.makeSpare();
        Prompt journal = new Prompt();
        faulty.setSyncFails(true);
        assertThatThrownBy(() -> log.commit(record(journal))).isInstanceOf(IOException.class);
        faulty.setSyncFails(false);

        // when, then
        assertThatThrownBy(() -> log.commit(record(journal))).hasMessageContaining("accepts no more writes");
        assertThat(log.failure()).isNotNull();
    }

    @Test
    void shouldMakeNoFileWhenThatWouldTakeTheLastRoom() throws IOException {
        // given
        long fileSizeBytes = (1 << 20) / WriteAheadLog.FILE_COUNT;
        long[] usableBytes = {2 * fileSizeBytes - 1};
        WriteAheadLog log = new WriteAheadLog(
                new FilterFileStore(store) {
                    @Override
                    public long usableBytes(Path directory) {
                        return usableBytes[0];
                    }
                },
                DATA,
                1 << 20);

        // when, then
        assertThatThrownBy(log::makeSpare).hasMessageContaining("bytes are left on the disk");
        usableBytes[0]++;
        log.makeSpare();
        assertThat(store.sizeBytes(DIRECTORY.resolve("01.wal"))).isEqualTo(fileSizeBytes);
    }
}
