package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static io.journalq.server.journal.TestJournals.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.segment.RecoveryRules;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A power loss that took some writes but left later ones. The later ones were not acknowledged as durable, and a
 * producer that sends the lost batches again must find the log as it was before them.
 */
class LostTailTest {
    private static final Path DIRECTORY = Path.of("data", "topic-0");
    private static final JournalConfig CONFIG = JournalConfig.DEFAULT.withSegmentSizeBytes(400);
    private static final int VALUE_BYTES = 50;
    /** Size of the unit that a disk writes completely or not at all. */
    private static final int SECTOR_BYTES = 512;

    private final MemoryFileStore store = new MemoryFileStore();
    /** The journal's background work, which the test runs explicitly. */
    private final Queue<Runnable> background = new ArrayDeque<>();

    private int smallBytes;

    private Journal open() throws IOException {
        return Journal.open(store, DIRECTORY, CONFIG, background::add);
    }

    private static Path segment(long baseOffset, String suffix) {
        return DIRECTORY.resolve(String.format("%020d%s", baseOffset, suffix));
    }

    private byte[] content(Path file) throws IOException {
        return store.read(file, Integer.MAX_VALUE);
    }

    private void put(Path file, byte[] content) throws IOException {
        store.replace(file, ByteBuffer.wrap(content), false);
    }

    private List<String> logs() throws IOException {
        return store.list(DIRECTORY).stream()
                .filter(name -> name.endsWith(".log") || name.endsWith(".tail"))
                .toList();
    }

    private static List<Long> offsets(long count) {
        return LongStream.range(0, count).boxed().toList();
    }

    /** Three segments with three batches each. */
    private Journal written() throws IOException {
        Journal journal = open();
        append(journal, 9, 1, VALUE_BYTES);
        assertThat(journal.segmentCount()).isEqualTo(3);
        return journal;
    }

    @Test
    void shouldNameASegmentALogOnlyOnceWhatIsBeforeItIsSynced() throws IOException {
        // given
        Journal journal = written();
        assertThat(logs())
                .containsExactly("00000000000000000000.log", "00000000000000000003.tail", "00000000000000000006.tail");

        // when
        journal.flush();

        // then
        assertThat(logs())
                .containsExactly("00000000000000000000.log", "00000000000000000003.log", "00000000000000000006.log");
        assertThat(readAll(journal, 0)).isEqualTo(offsets(9));
    }

    @Test // seed 70000792
    void shouldSyncTheDirectoryBeforeTheNextSegmentCounts() throws IOException {
        // given
        List<String> calls = new ArrayList<>();
        FileStore watched = new FilterFileStore(store) {
            @Override
            public void move(Path from, Path to) throws IOException {
                calls.add(to.getFileName().toString());
                super.move(from, to);
            }

            @Override
            public void syncDirectory(Path directory) throws IOException {
                calls.add("sync");
                super.syncDirectory(directory);
            }
        };
        Journal journal = Journal.open(watched, DIRECTORY, CONFIG, background::add);
        append(journal, 9, 1, VALUE_BYTES);
        calls.clear();

        // when
        journal.flush();

        // then
        assertThat(calls)
                .containsExactly("sync", "00000000000000000003.log", "sync", "00000000000000000006.log", "sync");
    }

    @Test // seed 130060737
    void shouldSyncWhatIsBeingDeletedBeforeTheNextSegmentCounts() throws IOException {
        // given segments that are deleted before they were synced, while the deletion has not started
        List<String> calls = new ArrayList<>();
        FileStore watched = new FilterFileStore(store) {
            @Override
            public LogFile open(Path file, boolean create) throws IOException {
                return new FilterLogFile(super.open(file, create)) {
                    @Override
                    public void sync() throws IOException {
                        calls.add("sync "
                                + Integer.parseInt(file.getFileName().toString().substring(0, 20)));
                        super.sync();
                    }
                };
            }

            @Override
            public void move(Path from, Path to) throws IOException {
                calls.add("name " + to.getFileName().toString().substring(19));
                super.move(from, to);
            }
        };
        Journal journal = Journal.open(watched, DIRECTORY, CONFIG, background::add);
        append(journal, 9, 1, VALUE_BYTES);
        journal.deleteRecordsBefore(6);
        calls.clear();

        // when
        journal.flush();

        // then a crash that brings them back brings back all of them
        assertThat(calls).containsExactly("sync 0", "name 3.log", "sync 3", "name 6.log", "sync 6");
    }

    @Test
    void shouldKeepEverySegmentWhenTheProcessWasKilled() throws IOException {
        written();

        Journal found = open();

        assertThat(readAll(found, 0)).isEqualTo(offsets(9));
        assertThat(logs())
                .containsExactly("00000000000000000000.log", "00000000000000000003.log", "00000000000000000006.log");
    }

    @Test
    void shouldEndWhereTheEndOfASegmentIsLostWhenTheNextWasNotSettled() throws IOException {
        // given
        written();
        Path first = segment(0, ".log");
        byte[] whole = content(first);
        put(first, Arrays.copyOf(whole, whole.length * 2 / 3));

        // when
        Journal found = open();

        // then
        assertThat(readAll(found, 0)).isEqualTo(offsets(2));
        assertThat(logs()).containsExactly("00000000000000000000.log");

        // and it continues from there
        append(found, 4, 1, VALUE_BYTES);
        assertThat(readAll(found, 0)).isEqualTo(offsets(6));
    }

    @Test
    void shouldEndBeforeASegmentThatIsLostWhenTheOneBehindItIsNot() throws IOException {
        written();
        store.delete(segment(3, ".tail"));

        Journal found = open();

        assertThat(readAll(found, 0)).isEqualTo(offsets(3));
        assertThat(logs()).containsExactly("00000000000000000000.log");
    }

    @Test
    void shouldStartANewLogWhenTheFirstSegmentIsLost() throws IOException {
        written();
        store.delete(segment(0, ".log"));

        Journal found = open();

        assertThat(found.endOffset()).isZero();
        assertThat(logs()).isEmpty();
        append(found, 1, 1, VALUE_BYTES);
        assertThat(readAll(found, 0)).isEqualTo(offsets(1));
    }

    @Test
    void shouldKeepWhatIsBehindDamageWhenItWasSynced() throws IOException {
        // given
        Journal killed = written();
        killed.flush();
        Path first = segment(0, ".log");
        byte[] whole = content(first);
        put(first, Arrays.copyOf(whole, whole.length * 2 / 3));
        store.delete(DIRECTORY.resolve(JournalCheckpoint.FILE_NAME));

        // when
        Journal found = open();

        // then
        List<Long> left = List.of(0L, 1L, 3L, 4L, 5L, 6L, 7L, 8L);
        assertThat(readAll(found, 0)).isEqualTo(left);
    }

    @Test
    void shouldTellACheckWhatTheNextStartCutsOff() throws IOException {
        written();
        Path first = segment(0, ".log");
        byte[] whole = content(first);
        put(first, Arrays.copyOf(whole, whole.length * 2 / 3));

        JournalCheck.Report report = JournalCheck.run(store, DIRECTORY);

        assertThat(report.endOffset()).isEqualTo(2);
        assertThat(report.findings())
                .extracting(JournalFinding::kind, JournalFinding::file)
                .containsExactly(
                        tuple(JournalFinding.Kind.CUT_OFF, segment(3, ".tail")),
                        tuple(JournalFinding.Kind.CUT_OFF, segment(6, ".tail")));
    }

    @Test // seed 96066522
    void shouldDeleteTheOldestForGoodBeforeTheNextWhenNothingSaysWhereTheLogBegins() throws IOException {
        // given a disk that has no room for a checkpoint
        List<String> calls = new ArrayList<>();
        FileStore full = new FilterFileStore(store) {
            @Override
            public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
                throw new IOException("No space left on device");
            }

            @Override
            public void move(Path from, Path to) throws IOException {
                super.move(from, to);
                if (to.toString().endsWith(".log.deleted")) {
                    calls.add(to.getFileName().toString());
                }
            }

            @Override
            public void syncDirectory(Path directory) throws IOException {
                if (!calls.isEmpty()) {
                    calls.add("sync");
                }
                super.syncDirectory(directory);
            }
        };
        Journal journal = Journal.open(full, DIRECTORY, CONFIG, background::add);
        append(journal, 9, 1, VALUE_BYTES);
        journal.flush();

        // when
        journal.deleteRecordsBefore(6);
        background.forEach(Runnable::run);

        // then
        assertThat(calls)
                .startsWith("00000000000000000000.log.deleted", "sync", "00000000000000000003.log.deleted", "sync");
    }

    @Test // seed 97153429
    void shouldDeleteOlderSegmentsBeforeNewerOnesWhicheverDeletionIsCarriedOutFirst() throws IOException {
        // given two deletions in progress
        Journal journal = written();
        journal.flush();
        background.clear();
        journal.deleteRecordsBefore(3);
        Runnable first = background.remove();
        journal.deleteRecordsBefore(6);
        Runnable second = background.remove();

        // when the second one runs first
        second.run();

        // then
        assertThat(logs()).containsExactly("00000000000000000006.log");
        first.run();
        assertThat(open().startOffset()).isEqualTo(6);
    }

    @Test // seed 74013772
    void shouldGoOnWithADeletionOnlyOnceWhatProducersSentThereCouldBeRead() throws IOException {
        // given a process that is killed between the change of the start offset and the deletion of the files before it
        Journal journal = written();
        journal.flush();
        journal.deleteRecordsBefore(6);
        journal.checkpoint();
        background.clear();

        // when
        Journal found = open();
        runBackground();

        // then they exist until the partition, which reads them, maintains its log
        assertThat(found.startOffset()).isEqualTo(6);
        assertThat(logs())
                .containsExactly("00000000000000000000.log", "00000000000000000003.log", "00000000000000000006.log");
        assertThat(found.applyRetention(0, 9)).isEqualTo(2);
        runBackground();
        assertThat(logs()).containsExactly("00000000000000000006.log");
    }

    private void runBackground() {
        for (Runnable next = background.poll(); next != null; next = background.poll()) {
            next.run();
        }
    }

    @Test // seed 97174045
    void shouldSyncASnapshotThatTakesThePlaceOfOneThatIs() throws IOException {
        // given
        Map<String, Boolean> synced = new TreeMap<>();
        FileStore watched = new FilterFileStore(store) {
            @Override
            public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
                super.replace(file, content, sync);
                synced.put(file.getFileName().toString(), sync);
            }
        };
        Journal journal = Journal.open(watched, DIRECTORY, CONFIG, background::add);
        append(journal, 4, 1, VALUE_BYTES);
        journal.derivedState().writeDurableSnapshot(3, ByteBuffer.wrap(new byte[] {1}));

        // when
        journal.derivedState().writeSnapshot(3, ByteBuffer.wrap(new byte[] {2}));
        journal.derivedState().writeSnapshot(4, ByteBuffer.wrap(new byte[] {3}));

        // then
        assertThat(synced)
                .containsEntry("00000000000000000003.snapshot", true)
                .containsEntry("00000000000000000004.snapshot", false);
    }

    @Test // seed 97130343
    void shouldKeepASnapshotOfWhatIsOnTheDiskWhenLaterOnesAreNot() throws IOException {
        // given
        Journal journal = open();
        append(journal, 3, 1, VALUE_BYTES);
        journal.flush();
        journal.derivedState().writeDurableSnapshot(3, ByteBuffer.wrap(new byte[] {3}));
        append(journal, 6, 1, VALUE_BYTES);
        for (byte offset = 5; offset < 9; offset++) {
            journal.derivedState().writeDurableSnapshot(offset, ByteBuffer.wrap(new byte[] {offset}));
        }

        // when a power loss takes the data that was not synced
        store.delete(segment(3, ".tail"));
        store.delete(segment(6, ".tail"));
        Journal found = open();

        // then
        assertThat(found.endOffset()).isEqualTo(3);
        assertThat(found.derivedState().restoreSnapshot().offset()).isEqualTo(3);
    }

    @Test // seed 95024869
    void shouldSettleASegmentThatBeganWhileTheOneBeforeItWasBeingSynced() throws IOException {
        // given
        Runnable[] onSync = {() -> {}};
        FileStore watched = new FilterFileStore(store) {
            @Override
            public LogFile open(Path file, boolean create) throws IOException {
                return new FilterLogFile(super.open(file, create)) {
                    @Override
                    public void sync() throws IOException {
                        super.sync();
                        onSync[0].run();
                    }
                };
            }
        };
        JournalConfig config = JournalConfig.DEFAULT.withRetention(1, -1);
        Journal journal = Journal.open(watched, DIRECTORY, config, background::add);
        append(journal, 2, 1, VALUE_BYTES);

        // when everything in the log is deleted during its sync
        onSync[0] = () -> journal.applyRetention(Long.MAX_VALUE / 2, 2);
        journal.flush();
        onSync[0] = () -> {};
        background.forEach(Runnable::run);
        append(journal, 1, 1, VALUE_BYTES);

        // then the later data survives a killed process
        Journal found = open();
        assertThat(found.startOffset()).isEqualTo(2);
        assertThat(readAll(found, 2)).containsExactly(2L);
    }

    @Test
    void shouldEndBeforeABatchThatWasNotAllWrittenThoughTheNextWas() throws IOException {
        byte[] whole = newestWritten();
        int batchBytes = whole.length / 3;
        for (int lost = 2; lost < batchBytes; lost++) {
            byte[] torn = whole.clone();
            Arrays.fill(torn, 2 * batchBytes - lost, 2 * batchBytes, (byte) 0);
            put(segment(0, ".log"), torn);
            store.delete(DIRECTORY.resolve(JournalCheckpoint.FILE_NAME));

            assertThat(readAll(open(), 0)).as("%d bytes", lost).isEqualTo(offsets(1));
        }
    }

    @Test // seed 91009617
    void shouldEndBeforeABatchThatWasNotAllWrittenWhereverItEndsInASector() throws IOException {
        int endsBehindASector = 0;
        for (int valueBytes = 150; valueBytes < 550; valueBytes++) {
            byte[] torn = writtenAfterASmallOne(valueBytes);
            int secondEnd = smallBytes + (torn.length - smallBytes) / 2;
            endsBehindASector += secondEnd % SECTOR_BYTES == 1 ? 1 : 0;
            Arrays.fill(torn, secondEnd - 60, secondEnd, (byte) 0);
            put(segment(0, ".log"), torn);

            assertThat(readAll(open(), 0)).as("%d bytes", secondEnd).isEqualTo(offsets(1));
        }
        assertThat(endsBehindASector).isPositive();
    }

    @Test // seed 5103993
    void shouldEndTheFileAgainWhenASyncFailed() throws IOException {
        // given
        append(open(), 2, 1, VALUE_BYTES);
        put(DIRECTORY.resolve(JournalFlusher.FENCE_FILE_NAME), new byte[0]);
        List<String> calls = new ArrayList<>();
        FileStore watched = new FilterFileStore(store) {
            @Override
            public LogFile open(Path file, boolean create) throws IOException {
                return new FilterLogFile(super.open(file, create)) {
                    @Override
                    public void truncate(long sizeBytes) throws IOException {
                        calls.add("truncate to " + sizeBytes);
                        super.truncate(sizeBytes);
                    }

                    @Override
                    public void sync() throws IOException {
                        calls.add("sync");
                        super.sync();
                    }
                };
            }
        };

        // when
        Journal.open(watched, DIRECTORY, CONFIG, background::add);

        // then removed batches that the disk still holds cannot come back behind the end
        assertThat(calls).containsExactly("truncate to " + content(segment(0, ".log")).length, "sync");
    }

    @Test // seed 5036753
    void shouldEndBeforeABatchWhoseWriteEndedInItsHeader() throws IOException {
        for (int written = 0; written <= RecordBatch.CRC; written++) {
            byte[] torn = writtenAfterASmallOne(150);
            int secondEnd = smallBytes + (torn.length - smallBytes) / 2;
            // The last bytes of the batch were written.
            Arrays.fill(torn, smallBytes + written, secondEnd - 20, (byte) 0);
            put(segment(0, ".log"), torn);

            assertThat(readAll(open(), 0)).as("%d bytes of the header", written).isEqualTo(offsets(1));
        }
    }

    @Test
    void shouldEndBeforeABatchWithAMissingSector() throws IOException {
        for (int sector = 1; sector < 4; sector++) {
            byte[] torn = writtenAfterASmallOne(5 * SECTOR_BYTES);
            Arrays.fill(torn, sector * SECTOR_BYTES, (sector + 1) * SECTOR_BYTES, (byte) 0);
            put(segment(0, ".log"), torn);

            assertThat(readAll(open(), 0)).as("sector %d", sector).isEqualTo(offsets(1));
        }
    }

    /** A segment with a small batch and two larger ones. */
    private byte[] writtenAfterASmallOne(int valueBytes) throws IOException {
        store.delete(DIRECTORY);
        Journal journal = Journal.open(store, DIRECTORY, JournalConfig.DEFAULT, background::add);
        append(journal, 1, 1, VALUE_BYTES);
        smallBytes = content(segment(0, ".log")).length;
        append(journal, 2, 1, valueBytes);
        return content(segment(0, ".log"));
    }

    @Test // seeds 91016046 and 91030165
    void shouldNotGoBackWhenSegmentsAreStillThereThatWereAboutToBeDeleted() throws IOException {
        // given a log whose checkpoint lists everything as deleted
        Journal journal = written();
        journal.flush();
        byte[] old = content(segment(3, ".log"));
        journal.setConfig(CONFIG.withRetention(1, -1));
        assertThat(journal.applyRetention(Long.MAX_VALUE / 2, 9)).isEqualTo(3);
        background.forEach(Runnable::run);

        // when a power loss leaves one of the files
        put(segment(3, ".log"), old);
        Journal found = open();

        // then
        assertThat(found.startOffset()).isEqualTo(9);
        assertThat(found.endOffset()).isEqualTo(9);
        append(found, 1, 1, VALUE_BYTES);
        assertThat(readAll(found, 9)).containsExactly(9L);
    }

    @Test
    void shouldKeepTheNextBatchWhenOneThatWasWrittenWasChanged() throws IOException {
        byte[] whole = newestWritten();
        int batchBytes = whole.length / 3;
        for (int at = batchBytes + 17; at < 2 * batchBytes; at++) {
            byte[] changed = whole.clone();
            changed[at] ^= 0x55;
            put(segment(0, ".log"), changed);
            store.delete(DIRECTORY.resolve(JournalCheckpoint.FILE_NAME));

            assertThat(readAll(open(), 0)).as("byte %d", at).isEqualTo(List.of(0L, 2L));
        }
    }

    @Test // seed 600549 of 3 brokers
    void shouldEndBeforeAnyDamageWhenOtherReplicasHaveWhatIsBehindIt() throws IOException {
        byte[] whole = newestWritten();
        int batchBytes = whole.length / 3;
        for (int at = batchBytes + RecordBatch.MAGIC; at < 2 * batchBytes; at++) {
            byte[] flipped = whole.clone();
            flipped[at] ^= 1;
            put(segment(0, ".log"), flipped);
            store.delete(DIRECTORY.resolve(JournalCheckpoint.FILE_NAME));

            RecoveryRules rules = new RecoveryRules(true, false);
            Journal replica = Journal.open(store, DIRECTORY, CONFIG, Integer.MAX_VALUE, rules, background::add);

            assertThat(readAll(replica, 0)).as("byte %d", at).isEqualTo(offsets(1));
        }
    }

    /** Three batches in one segment. */
    private byte[] newestWritten() throws IOException {
        append(open(), 3, 1, VALUE_BYTES);
        return content(segment(0, ".log"));
    }

    @Test
    void shouldUseNoSnapshotFromBeforeTheLogBegins() throws IOException {
        // given
        Journal journal = written();
        journal.flush();
        journal.derivedState().writeDurableSnapshot(2, ByteBuffer.wrap(new byte[] {2}));
        journal.deleteRecordsBefore(6);
        background.forEach(Runnable::run);

        // when
        Journal found = open();

        // then
        assertThat(found.startOffset()).isEqualTo(6);
        assertThat(found.derivedState().restoreSnapshot()).isNull();
    }

    @Test
    void shouldKeepASnapshotOfWhatIsDeletedBeforeItIs() throws IOException {
        // given
        Journal journal = written();
        journal.derivedState().keepBeforeRemoval(() -> ByteBuffer.wrap(new byte[] {9}));
        journal.deleteRecordsBefore(6);
        background.forEach(Runnable::run);

        // when
        Journal found = open();

        // then
        assertThat(found.startOffset()).isEqualTo(6);
        assertThat(found.derivedState().restoreSnapshot().offset()).isEqualTo(9);
        assertThat(found.derivedState().restoreSnapshot().state().get()).isEqualTo((byte) 9);
    }
}
