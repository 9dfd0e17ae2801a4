package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static io.journalq.server.journal.TestJournals.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.file.NewerFormatException;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.wal.WriteAheadFrames;
import io.journalq.server.journal.wal.WriteAheadLog;
import io.journalq.server.journal.wal.WriteAheadRecord;
import io.journalq.server.journal.wal.WriteAheadScan;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** The content of write-ahead files is restored into journals once, at its original position. */
class WalReplayTest {
    private static final Path DATA = Path.of("data");
    private static final Path DIRECTORY = DATA.resolve("topic-0");
    private static final int SEGMENT_BYTES = 1_000;

    private final MemoryFileStore store = new MemoryFileStore();
    private final TestCover cover = new TestCover();

    private static Journal open(FileStore in) throws IOException {
        return Journal.open(in, DIRECTORY, JournalConfig.DEFAULT.withSegmentSizeBytes(SEGMENT_BYTES), Runnable::run);
    }

    private WriteAheadLog log(long sizeBytes) throws IOException {
        WriteAheadLog log = new WriteAheadLog(store, DATA, sizeBytes);
        log.makeSpare();
        return log;
    }

    /** Commits every write and truncation of the journal. */
    private void commitTo(WriteAheadLog log, Journal journal) {
        journal.setObserver(new CommittedWrites(log, cover, DIRECTORY));
    }

    private List<WriteAheadRecord> records() throws IOException {
        List<WriteAheadRecord> records = new ArrayList<>();
        for (Path file : WriteAheadScan.files(store, DATA)) {
            try (WriteAheadScan scan = WriteAheadScan.open(store, file)) {
                for (WriteAheadRecord record = scan.next(); record != null; record = scan.next()) {
                    records.add(record);
                }
            }
        }
        return records;
    }

    /** Where batches of two records begin. */
    private static List<Long> offsets(long end) {
        return LongStream.iterate(0, offset -> offset < end, offset -> offset + 2)
                .boxed()
                .toList();
    }

    private Path wal() {
        return DATA.resolve(WriteAheadLog.DIRECTORY_NAME).resolve("01" + WriteAheadLog.FILE_SUFFIX);
    }

    /**
     * Leaves the files as after a power loss: all data before the newest segment was synced when that segment got its
     * name, the rest may be lost.
     */
    private void loseWhatIsNotSynced() throws IOException {
        List<String> names = store.list(DIRECTORY);
        for (String name : names) {
            if (!name.endsWith(Segment.LOG_SUFFIX)) {
                store.delete(DIRECTORY.resolve(name));
            }
        }
        try (LogFile file = store.open(newestLog(), false)) {
            assertThat(file.sizeBytes()).isPositive();
            file.truncate(0);
        }
    }

    private Path newestLog() throws IOException {
        List<String> names = store.list(DIRECTORY);
        return DIRECTORY.resolve(names.stream()
                .filter(name -> name.endsWith(Segment.LOG_SUFFIX))
                .reduce((older, newer) -> newer)
                .orElseThrow());
    }

    @Test
    void shouldBringEverythingBackWhenTheJournalLostIt() throws IOException {
        // given
        Journal journal = open(store);
        commitTo(log(1 << 20), journal);
        for (int i = 0; i < 20; i++) {
            append(journal, 1, 2, 50);
        }
        assertThat(journal.segmentCount()).isGreaterThan(2);
        long end = journal.writtenOffset();
        loseWhatIsNotSynced();

        // when
        long count = WalReplay.run(store, DATA);

        // then
        assertThat(count).isPositive();
        assertThat(readAll(open(store), 0)).isEqualTo(offsets(end));
        assertThat(store.list(DATA.resolve(WriteAheadLog.DIRECTORY_NAME))).isEmpty();
    }

    @Test
    void shouldNotRecreateASegmentWhenItWasDeletedWithoutRoomForACheckpoint() throws IOException {
        // given
        Journal journal = open(store);
        commitTo(log(1 << 20), journal);
        for (int i = 0; i < 20; i++) {
            append(journal, 1, 2, 50);
        }
        store.delete(Segment.logPath(DIRECTORY, 0));
        store.delete(DIRECTORY.resolve(JournalCheckpoint.FILE_NAME));
        List<String> names = store.list(DIRECTORY);

        // when
        WalReplay.run(store, DATA);

        // then
        assertThat(store.list(DIRECTORY)).isEqualTo(names);
    }

    @Test
    void shouldComeToTheSameWhenItIsStoppedAnywhere() throws IOException {
        boolean stopped = true;
        for (int changes = 0; stopped; changes++) {
            // given
            store.delete(DATA);
            Journal journal = open(store);
            commitTo(log(1 << 20), journal);
            append(journal, 12, 2, 50);
            append(journal, 3, 2, 50);
            append(journal, 1, 2, 50);
            long end = journal.writtenOffset();
            loseWhatIsNotSynced();

            // when
            CrashingFileStore crashing = new CrashingFileStore(store);
            crashing.crashAfter(changes);
            try {
                WalReplay.run(crashing, DATA);
            } catch (IOException killed) {
                assertThat(crashing.hasCrashed()).isTrue();
            }
            stopped = crashing.hasCrashed();

            // then
            WalReplay.run(store, DATA);
            assertThat(readAll(open(store), 0)).isEqualTo(offsets(end));
        }
    }

    @Test
    void shouldNotBringBackWhatWasDeleted() throws IOException {
        // given
        Journal journal = open(store);
        commitTo(log(1 << 20), journal);
        for (int i = 0; i < 20; i++) {
            append(journal, 1, 2, 50);
        }
        long end = journal.writtenOffset();
        journal.deleteRecordsBefore(end - 3);
        List<String> names = store.list(DIRECTORY);

        // when
        WalReplay.run(store, DATA);

        // then
        assertThat(store.list(DIRECTORY)).isEqualTo(names);
        assertThat(open(store).startOffset()).isEqualTo(end - 3);
    }

    private byte[] content(Path file) throws IOException {
        return store.read(file, 1 << 20);
    }

    @Test
    void shouldLeaveOlderSegmentsAloneWhateverIsInThem() throws IOException {
        // given a segment that was rewritten since, as compaction does, and no checkpoint that records it
        Journal journal = open(store);
        commitTo(log(1 << 20), journal);
        for (int i = 0; i < 20; i++) {
            append(journal, 1, 2, 50);
        }
        journal.flush();
        store.delete(DIRECTORY.resolve(JournalCheckpoint.FILE_NAME));
        Path first = Segment.logPath(DIRECTORY, 0);
        byte[] before = content(first);
        int batchBytes = ByteBuffer.wrap(before).getInt(8) + 12;
        byte[] compacted = Arrays.copyOfRange(before, batchBytes, before.length);
        store.replace(first, ByteBuffer.wrap(compacted), true);

        // when
        WalReplay.run(store, DATA);

        // then
        assertThat(content(first)).isEqualTo(compacted);
        assertThat(readAll(open(store), 0))
                .isEqualTo(offsets(journal.writtenOffset()).subList(1, 20));
    }

    @Test
    void shouldBringTheRestBackWhenATailIsTorn() throws IOException {
        // given
        Journal journal = open(store);
        commitTo(log(1 << 20), journal);
        append(journal, 1, 2, 50);
        journal.flush();
        journal.checkpoint();
        append(journal, 3, 2, 50);
        long end = journal.writtenOffset();
        Path first = Segment.logPath(DIRECTORY, 0);
        byte[] content = content(first);
        try (LogFile file = store.open(first, false)) {
            file.truncate(content.length / 2);
        }

        // when
        WalReplay.run(store, DATA);

        // then
        assertThat(content(first)).isEqualTo(content);
        assertThat(readAll(open(store), 0)).isEqualTo(offsets(end));
    }

    @Test
    void shouldWriteNothingBehindAHole() throws IOException {
        // given a file that ends before the first record's position, which only damage can cause
        Journal journal = open(store);
        append(journal, 2, 2, 50);
        commitTo(log(1 << 20), journal);
        append(journal, 1, 2, 50);
        Path first = Segment.logPath(DIRECTORY, 0);
        byte[] cut = Arrays.copyOf(content(first), 100);
        store.replace(first, ByteBuffer.wrap(cut), true);

        // when
        long count = WalReplay.run(store, DATA);

        // then
        assertThat(count).isZero();
        assertThat(content(first)).isEqualTo(cut);
    }

    @Test
    void shouldKeepFewFilesOpenWhenThereAreManyJournals() throws IOException {
        // given
        WriteAheadLog log = log(1 << 20);
        Journal journal = open(store);
        int journals = 300;
        for (int i = 0; i < 2 * journals; i++) {
            byte[] directory = ("other-" + i % journals).getBytes(StandardCharsets.UTF_8);
            store.open(Segment.logPath(DATA.resolve("other-" + i % journals), 0), true)
                    .close();
            journal.setObserver((base, position, endOffset, batches) -> {
                WriteAheadFrames frames = new WriteAheadFrames(log.maxFramesSizeBytes(1));
                frames.add(new WriteAheadFrames.Entry(cover, 1), directory, 0, 0, batches);
                try {
                    assertThat(log.commit(List.of(frames))).isTrue();
                } catch (IOException failure) {
                    throw new AssertionError(failure);
                }
            });
            append(journal, 1, 1, 10);
        }

        // when
        OpenFileCount counting = new OpenFileCount(store);
        long count = WalReplay.run(counting, DATA);

        // then
        assertThat(count).isEqualTo(2L * journals);
        assertThat(counting.most).isLessThan(100);
        assertThat(counting.now).isZero();
        for (int i = 0; i < journals; i++) {
            assertThat(store.sizeBytes(Segment.logPath(DATA.resolve("other-" + i), 0)))
                    .isPositive();
        }
    }

    /** Counts open files. */
    private static final class OpenFileCount extends FilterFileStore {
        int now;
        int most;

        OpenFileCount(FileStore delegate) {
            super(delegate);
        }

        @Override
        public LogFile open(Path file, boolean create) throws IOException {
            LogFile opened = super.open(file, create);
            most = Math.max(most, ++now);
            return new FilterLogFile(opened) {
                @Override
                public void close() throws IOException {
                    now--;
                    super.close();
                }
            };
        }
    }

    @Test
    void shouldLeaveAFenceAndTheFilesWhenASyncFailed() throws IOException {
        // given
        Journal journal = open(store);
        commitTo(log(1 << 20), journal);
        append(journal, 3, 2, 50);
        long end = journal.writtenOffset();
        loseWhatIsNotSynced();

        // when
        FaultyFileStore faulty = new FaultyFileStore(store);
        faulty.syncFails = true;
        assertThatThrownBy(() -> WalReplay.run(faulty, DATA)).isInstanceOf(IOException.class);

        // then
        assertThat(store.list(DIRECTORY)).contains(JournalFlusher.FENCE_FILE_NAME);
        assertThat(WalReplay.run(store, DATA)).isEqualTo(1);
        assertThat(readAll(open(store), 0)).isEqualTo(offsets(end));
    }

    @Test
    void shouldNotBringBackAJournalWhenItWasDeleted() throws IOException {
        // given
        Journal journal = open(store);
        commitTo(log(1 << 20), journal);
        append(journal, 3, 2, 50);
        journal.delete();

        // when, then
        assertThat(WalReplay.run(store, DATA)).isZero();
        assertThat(store.list(DIRECTORY)).isEmpty();
    }

    @Test
    void shouldNotBringBackWhatWasTruncated() throws IOException {
        // given other batches instead of truncated ones; no write-ahead file has a copy of them
        Journal journal = open(store);
        commitTo(log(1 << 20), journal);
        append(journal, 4, 2, 50);
        journal.truncateTo(4);
        journal.setObserver(null);
        append(journal, 1, 2, 70);
        journal.flush();
        byte[] before = content(newestLog());

        // when
        long count = WalReplay.run(store, DATA);

        // then
        assertThat(count).isZero();
        assertThat(content(newestLog())).isEqualTo(before);
        assertThat(readAll(open(store), 0)).isEqualTo(offsets(6));
    }

    @Test
    void shouldBringBackWhatWasWrittenBehindACut() throws IOException {
        // given
        Journal journal = open(store);
        commitTo(log(1 << 20), journal);
        append(journal, 4, 2, 50);
        journal.truncateTo(4);
        int cutBytes = content(newestLog()).length;
        append(journal, 1, 2, 60);
        byte[] before = content(newestLog());
        try (LogFile file = store.open(newestLog(), false)) {
            file.truncate(cutBytes);
        }

        // when
        long count = WalReplay.run(store, DATA);

        // then
        assertThat(count).isEqualTo(1);
        assertThat(content(newestLog())).isEqualTo(before);
        assertThat(readAll(open(store), 0)).isEqualTo(offsets(6));
    }

    @Test
    void shouldHaveNoGapWhenATruncationIsStoppedAnywhere() throws IOException {
        boolean stopped = true;
        for (int changes = 0; stopped; changes++) {
            // given several segments
            store.delete(DATA);
            CrashingFileStore crashing = new CrashingFileStore(store);
            WriteAheadLog log = new WriteAheadLog(crashing, DATA, 1 << 20);
            log.makeSpare();
            Journal journal = open(crashing);
            commitTo(log, journal);
            for (int i = 0; i < 12; i++) {
                append(journal, 1, 2, 100);
            }
            assertThat(journal.segmentCount()).isGreaterThan(3);

            // when
            crashing.crashAfter(changes);
            try {
                journal.truncateTo(5);
            } catch (IOException killed) {
                assertThat(crashing.hasCrashed()).isTrue();
            }
            stopped = crashing.hasCrashed();

            // then
            WalReplay.run(store, DATA);
            Journal found = open(store);
            assertThat(found.writtenOffset()).isBetween(4L, stopped ? 24L : 4L);
            assertThat(readAll(found, 0)).isEqualTo(offsets(found.writtenOffset()));
            assertThat(found.truncateTo(5)).isEqualTo(4);
            append(found, 1, 2, 100);
            assertThat(readAll(open(store), 0)).isEqualTo(offsets(6));
        }
    }

    @Test
    void shouldKeepTheLogWhenATruncationCannotBeRecorded() throws IOException {
        // given an observer that cannot record truncations, and later none
        Journal journal = open(store);
        journal.setObserver((base, position, endOffset, batches) -> {});
        append(journal, 3, 2, 50);
        journal.setObserver(null);

        // when, then
        assertThatThrownBy(() -> journal.truncateTo(2)).hasMessageContaining("could come back");
        append(journal, 1, 2, 50);
        assertThat(readAll(open(store), 0)).isEqualTo(offsets(8));
    }

    /** Changes the version in the header of the only write-ahead file. */
    private void setVersion(int version) throws IOException {
        try (LogFile file = store.open(wal(), false)) {
            ByteBuffer header = ByteBuffer.allocate(20);
            file.read(header, 0);
            header.putInt(4, version);
            CRC32C crc = new CRC32C();
            crc.update(header.array(), 0, 8);
            crc.update(header.array(), 12, 8);
            file.write(header.putInt(8, (int) crc.getValue()).rewind(), 0);
        }
    }

    @Test
    void shouldReadFilesOfVersion1WhichHaveNoCuts() throws IOException {
        // given
        Journal journal = open(store);
        commitTo(log(1 << 20), journal);
        append(journal, 2, 2, 50);
        long end = journal.writtenOffset();
        journal.truncateTo(2);
        assertThat(records()).extracting(WriteAheadRecord::isCut).containsExactly(false, true);

        // when
        setVersion(1);

        // then a record without batches is not one
        assertThat(records()).extracting(WriteAheadRecord::isCut).containsExactly(false);
        assertThat(WalReplay.run(store, DATA)).isEqualTo(1);
        assertThat(readAll(open(store), 0)).isEqualTo(offsets(end));
    }

    @Test
    void shouldStopAtTheFirstRecordThatIsNotWholeWhenTheTailIsTorn() throws IOException {
        // given
        Journal journal = open(store);
        commitTo(log(1 << 20), journal);
        append(journal, 1, 2, 50);
        append(journal, 1, 2, 50);
        List<WriteAheadRecord> whole = records();
        long end = scannedEnd();
        for (int torn = 1; torn < 100; torn += 9) {
            try (LogFile file = store.open(wal(), false)) {
                ByteBuffer one = ByteBuffer.allocate(1);
                file.read(one, end - torn);
                file.write(one.put(0, (byte) ~one.get(0)).flip(), end - torn);

                // when, then
                assertThat(records()).hasSize(1);
                file.write(one.put(0, (byte) ~one.get(0)).rewind(), end - torn);
            }
        }
        assertThat(records()).hasSameSizeAs(whole).hasSize(2);
        assertThat(records()).extracting(WriteAheadRecord::directory).containsOnly("topic-0");
    }

    private long scannedEnd() throws IOException {
        try (WriteAheadScan scan = WriteAheadScan.open(store, wal())) {
            while (scan.next() != null) {
                assertThat(scan.position()).isPositive();
            }
            return scan.position();
        }
    }

    @Test
    void shouldUseAFileAgainOnlyWhenItsJournalsAreSafe() throws IOException {
        // given room for a few records in each file
        WriteAheadLog log = log(WriteAheadLog.FILE_COUNT * 600L);
        byte[] directory = "topic-0".getBytes(StandardCharsets.UTF_8);
        Journal journal = open(store);
        List<Boolean> taken = new ArrayList<>();
        journal.setObserver((base, position, endOffset, batches) -> {
            WriteAheadFrames frames = new WriteAheadFrames(log.maxFramesSizeBytes(1));
            try {
                taken.add(frames.add(new WriteAheadFrames.Entry(cover, endOffset), directory, base, position, batches)
                        && log.commit(List.of(frames)));
            } catch (IOException failure) {
                throw new AssertionError(failure);
            }
        });

        // when it is full
        for (int i = 0; i < 10; i++) {
            append(journal, 1, 1, 100);
        }

        // then no more is accepted, and the journal is asked to flush
        int fit = taken.indexOf(false);
        assertThat(fit).isPositive();
        assertThat(cover.asked).isPositive();
        assertThat(records()).hasSize(fit);

        // and when the journal has flushed, commits continue, and the old records are not seen again
        cover.flushedOffset = journal.writtenOffset();
        append(journal, 1, 1, 10);
        assertThat(taken.get(taken.size() - 1)).isTrue();
        assertThat(records()).hasSize(1);
        assertThat(records().get(0).endOffset()).isEqualTo(journal.writtenOffset());
    }

    @Test
    void shouldLeaveNothingBehindWhenThereIsNoRoomForAFile() throws IOException {
        // given
        FaultyFileStore faulty = new FaultyFileStore(store);
        faulty.setWritableBytes(50_000);
        WriteAheadLog log = new WriteAheadLog(faulty, DATA, 1 << 20);

        // when, then
        assertThatThrownBy(log::makeSpare).hasMessageContaining("No space left");
        assertThat(store.list(DATA.resolve(WriteAheadLog.DIRECTORY_NAME))).isEmpty();
        assertThat(log.commit(List.of(new WriteAheadFrames(1_000)))).isFalse();

        // and commits continue when there is room
        faulty.setWritableBytes(Long.MAX_VALUE);
        log.makeSpare();
        assertThat(log.commit(List.of(new WriteAheadFrames(1_000)))).isTrue();
    }

    @Test
    void shouldDeleteItsFilesWhenItIsClosedAndEverythingIsSafe() throws IOException {
        for (boolean safe : new boolean[] {false, true}) {
            // given
            WriteAheadLog log = log(1 << 20);
            Journal journal = open(store);
            commitTo(log, journal);
            append(journal, 1, 1, 100);
            cover.flushedOffset = safe ? journal.writtenOffset() : 0;

            // when
            log.close();

            // then
            assertThat(store.list(DATA.resolve(WriteAheadLog.DIRECTORY_NAME)).isEmpty())
                    .isEqualTo(safe);
            store.delete(DATA);
        }
    }

    @Test
    void shouldRefuseWhatANewerReleaseWrote() throws IOException {
        // given
        Journal journal = open(store);
        commitTo(log(1 << 20), journal);
        append(journal, 1, 2, 50);
        setVersion(99);

        // when, then
        assertThatThrownBy(() -> WalReplay.run(store, DATA))
                .isInstanceOf(NewerFormatException.class)
                .hasMessageContaining("99");
        assertThat(store.list(DATA.resolve(WriteAheadLog.DIRECTORY_NAME))).isNotEmpty();
    }
}
