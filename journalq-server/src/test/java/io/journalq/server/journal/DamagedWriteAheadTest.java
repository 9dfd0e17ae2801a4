package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static io.journalq.server.journal.TestJournals.readAll;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.wal.CoveredJournal;
import io.journalq.server.journal.wal.WriteAheadFrames;
import io.journalq.server.journal.wal.WriteAheadLog;
import io.journalq.server.journal.wal.WriteAheadScan;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * Two journals lost records that only one of two write-ahead files contains. Then that file is missing, empty,
 * truncated or replaced by the other, or has a flipped bit at any byte. The start succeeds, the other records are
 * restored, nothing else is served, and a file that is certainly damaged is named and kept.
 */
class DamagedWriteAheadTest {
    private static final Path DATA = Path.of("data");
    private static final Path DIRECTORY = DATA.resolve(WriteAheadLog.DIRECTORY_NAME);
    private static final Path WAL = DIRECTORY.resolve("01" + WriteAheadLog.FILE_SUFFIX);
    private static final List<Path> JOURNALS = List.of(DATA.resolve("one-0"), DATA.resolve("two-0"));
    private static final int BATCHES = 5;
    private static final int HEADER_BYTES = 20;

    /** Its data never becomes durable in its own files. */
    private static final CoveredJournal UNSAFE = new CoveredJournal() {
        @Override
        public long flushedOffset() {
            return 0;
        }

        @Override
        public boolean isGone() {
            return false;
        }

        @Override
        public void flushSoon() {
            // There is room enough.
        }
    };

    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private MemoryFileStore store = new MemoryFileStore();
    private byte[] wal;
    /** The first batch of each journal, which was synced. */
    private final List<byte[]> synced = new ArrayList<>();

    /** Where the records begin; the last element is where they end. The records of the two journals alternate. */
    private final List<Integer> begins = new ArrayList<>();

    @BeforeEach
    void write() throws IOException {
        WriteAheadLog log = new WriteAheadLog(store, DATA, 1 << 16);
        log.makeSpare();
        List<Journal> journals = new ArrayList<>();
        for (Path directory : JOURNALS) {
            Journal journal = open(directory);
            append(journal, 1, 1, 50);
            synced.add(content(Segment.logPath(directory, 0)));
            byte[] name = String.valueOf(directory.getFileName()).getBytes(StandardCharsets.UTF_8);
            journal.setObserver((base, position, endOffset, batches) -> {
                WriteAheadFrames frames = new WriteAheadFrames(log.maxFramesSizeBytes(1));
                frames.add(new WriteAheadFrames.Entry(UNSAFE, endOffset), name, base, position, batches);
                try {
                    assertThat(log.commit(List.of(frames))).isTrue();
                } catch (IOException failure) {
                    throw new AssertionError(failure);
                }
            });
            journals.add(journal);
        }
        for (int i = 1; i < BATCHES; i++) {
            for (Journal journal : journals) {
                append(journal, 1, 1, 50);
            }
        }
        wal = content(WAL);
        try (WriteAheadScan scan = WriteAheadScan.open(store, WAL)) {
            while (scan.next() != null) {
                begins.add((int) scan.recordPosition());
            }
            begins.add((int) scan.position());
        }
        lines.start();
        logger().setLevel(Level.WARN);
        logger().setAdditive(false);
        logger().addAppender(lines);
    }

    @AfterEach
    void detach() {
        logger().detachAppender(lines);
        logger().setAdditive(true);
        logger().setLevel(null);
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.journalq.server.journal");
    }

    private Journal open(Path directory) throws IOException {
        return Journal.open(store, directory, JournalConfig.DEFAULT, Runnable::run);
    }

    private byte[] content(Path file) throws IOException {
        return store.read(file, 1 << 20);
    }

    /** The content of the two journals after a start with {@code content} as the write-ahead file; null for no file. */
    private List<List<Long>> startWith(byte[] content) throws IOException {
        store = new MemoryFileStore();
        lines.list.clear();
        for (int i = 0; i < JOURNALS.size(); i++) {
            put(Segment.logPath(JOURNALS.get(i), 0), synced.get(i));
        }
        if (content != null) {
            put(WAL, content);
        }
        WalReplay.run(store, DATA);
        List<List<Long>> read = new ArrayList<>();
        for (Path directory : JOURNALS) {
            try (Journal journal = open(directory)) {
                read.add(readAll(journal, 0));
            }
        }
        return read;
    }

    private void put(Path file, byte[] content) throws IOException {
        try (LogFile created = store.open(file, true)) {
            created.write(ByteBuffer.wrap(content), 0);
        }
    }

    private static List<Long> upTo(long end) {
        return LongStream.range(0, end).boxed().toList();
    }

    private void assertKeptAndNamed() throws IOException {
        assertThat(store.list(DIRECTORY)).containsExactly("01.wal.damaged");
        assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage).anyMatch(line -> line.contains("01.wal"));
    }

    @Test
    void shouldBringEverythingBackWhenNothingIsDamaged() throws IOException {
        assertThat(startWith(wal)).containsExactly(upTo(BATCHES), upTo(BATCHES));
        assertThat(store.list(DIRECTORY)).isEmpty();
        assertThat(lines.list).isEmpty();
    }

    @Test
    void shouldServeWhatWasSyncedWhenTheFileIsMissingOrEmpty() throws IOException {
        assertThat(startWith(null)).containsExactly(upTo(1), upTo(1));
        assertThat(startWith(new byte[0])).containsExactly(upTo(1), upTo(1));
        assertThat(startWith(new byte[wal.length])).containsExactly(upTo(1), upTo(1));
        assertThat(lines.list).isEmpty();
    }

    @Test
    void shouldBringBackTheWholeRecordsWhenTheFileIsCutAnywhere() throws IOException {
        for (int end = HEADER_BYTES; end < begins.get(begins.size() - 1); end++) {
            int cut = end;
            int whole = (int) begins.stream().filter(begin -> begin <= cut).count() - 1;

            assertThat(startWith(Arrays.copyOf(wal, cut)))
                    .as("cut at byte %d", cut)
                    .containsExactly(upTo(1 + (whole + 1) / 2), upTo(1 + whole / 2));
        }
    }

    @Test
    void shouldUseNothingOfTheFileWhenAnyByteOfItsHeaderIsFlipped() throws IOException {
        for (int at = 0; at < HEADER_BYTES; at++) {
            byte[] flipped = wal.clone();
            flipped[at] ^= 0x11;

            assertThat(startWith(flipped)).as("byte %d", at).containsExactly(upTo(1), upTo(1));
            assertKeptAndNamed();
        }
    }

    @Test
    void shouldLeaveOutOneRecordWhenAnyByteOfItIsFlipped() throws IOException {
        int records = begins.size() - 1;
        for (int hit = 0; hit < records; hit++) {
            int begin = begins.get(hit);
            for (int at = begin; at < begins.get(hit + 1); at++) {
                byte[] flipped = wal.clone();
                flipped[at] ^= 0x11;

                List<List<Long>> read = startWith(flipped);

                // One journal ends before its lost record, the other one is complete, provided that the next record can
                // be found.
                boolean found = at >= begin + Integer.BYTES && hit < records - 1;
                List<Long> ofHit = upTo(1 + hit / 2);
                List<Long> ofOther = found ? upTo(BATCHES) : upTo(1 + (hit + 1) / 2);
                assertThat(read.get(hit % 2)).as("byte %d", at).isEqualTo(ofHit);
                assertThat(read.get(1 - hit % 2)).as("byte %d", at).isEqualTo(ofOther);
                if (found) {
                    assertKeptAndNamed();
                }
            }
        }
    }

    @Test
    void shouldWriteNothingWhenTheFileIsOfAnotherBroker() throws IOException {
        // given
        byte[] other = wal.clone();
        store = new MemoryFileStore();
        put(WAL, other);
        put(Segment.logPath(DATA.resolve("three-0"), 0), new byte[0]);

        // when
        long count = WalReplay.run(store, DATA);

        // then
        assertThat(count).isZero();
        assertThat(store.list(DATA)).containsExactly("three-0");
        assertThat(content(Segment.logPath(DATA.resolve("three-0"), 0))).isEmpty();
    }

    @Test
    void shouldBringEverythingBackWhenTwoFilesChangedNames() throws IOException {
        // given a second file, with the following records
        store = new MemoryFileStore();
        synced.forEach(first -> assertThat(first).isNotEmpty());
        List<Path> files = List.of(DIRECTORY.resolve("01.wal"), DIRECTORY.resolve("02.wal"));
        WriteAheadLog log = new WriteAheadLog(store, DATA, WriteAheadLog.FILE_COUNT * 600L);
        Path directory = JOURNALS.get(0);
        Journal journal = open(directory);
        append(journal, 1, 1, 50);
        byte[] first = content(Segment.logPath(directory, 0));
        byte[] name = String.valueOf(directory.getFileName()).getBytes(StandardCharsets.UTF_8);
        journal.setObserver((base, position, endOffset, batches) -> {
            WriteAheadFrames frames = new WriteAheadFrames(log.maxFramesSizeBytes(1));
            frames.add(new WriteAheadFrames.Entry(UNSAFE, endOffset), name, base, position, batches);
            try {
                if (log.wantsSpare()) {
                    log.makeSpare();
                }
                assertThat(log.commit(List.of(frames))).isTrue();
            } catch (IOException failure) {
                throw new AssertionError(failure);
            }
        });
        append(journal, 1, 1, 50);
        while (WriteAheadScan.files(store, DATA).size() < 2) {
            append(journal, 1, 1, 50);
        }
        long end = journal.writtenOffset();
        List<byte[]> contents = List.of(content(files.get(0)), content(files.get(1)));

        // when
        store = new MemoryFileStore();
        put(Segment.logPath(directory, 0), first);
        put(files.get(0), contents.get(1));
        put(files.get(1), contents.get(0));
        WalReplay.run(store, DATA);

        // then
        assertThat(readAll(open(directory), 0)).isEqualTo(upTo(end));
    }
}
