package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static io.journalq.server.journal.TestJournals.findByTimestamp;
import static io.journalq.server.journal.TestJournals.readAll;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.journalq.common.record.Crc32c;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.journal.segment.LeaderEpochs.EpochEndOffset;
import io.journalq.server.journal.segment.RecoveryRules;
import io.journalq.server.journal.segment.SegmentState;
import io.journalq.server.journal.segment.SegmentState.SegmentExtent;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recovery of a journal from files that a crash, a disk or an operator changed. */
class JournalRecoveryTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final Path DIRECTORY = Path.of("data", "topic-0");
    private static final Path LOG = DIRECTORY.resolve("00000000000000000000.log");
    private static final Path INDEX = DIRECTORY.resolve("00000000000000000000.index");
    private static final Path CHECKPOINT = DIRECTORY.resolve(JournalCheckpoint.FILE_NAME);
    private static final int INDEX_HEADER_BYTES = 28;
    private static final int CHECKPOINT_HEADER_BYTES = 12;
    private static final int INDEX_ENTRY_BYTES = 16;
    /** Opening a journal allocates about 12 KiB. A start may open 100,000 journals. */
    private static final long MAX_OPEN_BYTES = 32 << 10;

    private static final JournalConfig SMALL = JournalConfig.DEFAULT.withIndexIntervalBytes(300);

    private final MemoryFileStore store = new MemoryFileStore();

    private Journal open(JournalConfig config) throws IOException {
        return Journal.open(store, DIRECTORY, config, Runnable::run);
    }

    private byte[] content(Path file) throws IOException {
        return store.read(file, Integer.MAX_VALUE);
    }

    private void put(Path file, byte[] content) throws IOException {
        store.replace(file, ByteBuffer.wrap(content), false);
    }

    private static List<Long> offsets(int count) {
        return LongStream.range(0, count).boxed().toList();
    }

    private byte[] writtenLog(int batches) throws IOException {
        Journal killed = open(SMALL);
        append(killed, batches, 1, 50);
        return content(LOG);
    }

    @Test
    void shouldCutToTheLastWholeBatchWhenTheTailIsTornAtAnyByte() throws IOException {
        byte[] whole = writtenLog(5);
        int batchBytes = whole.length / 5;
        for (int size = 3 * batchBytes; size < whole.length; size++) {
            put(LOG, Arrays.copyOf(whole, size));

            Journal journal = open(SMALL);

            int batches = size / batchBytes;
            assertThat(journal.writtenOffset()).isEqualTo(batches);
            assertThat(content(LOG)).hasSize(batches * batchBytes);
            append(journal, 1, 1, 50);
            assertThat(readAll(journal, 0)).isEqualTo(offsets(batches + 1));
        }
    }

    @Test
    void shouldNeverServeBadBytesWhenAnyByteOfABatchIsFlipped() throws IOException {
        byte[] whole = writtenLog(5);
        int batchBytes = whole.length / 5;
        for (int at = 2 * batchBytes; at < 3 * batchBytes; at++) {
            boolean epochByte = at % batchBytes >= 12 && at % batchBytes < 16;
            if (epochByte) {
                continue; // The CRC does not cover it, and it is corrected.
            }
            byte[] flipped = whole.clone();
            flipped[at] ^= 0x11;
            put(LOG, flipped);
            store.delete(CHECKPOINT);

            Journal journal = open(SMALL);

            // An offset follows from the batches around it and is corrected; any other damage affects one batch.
            boolean offsetByte = at % batchBytes < 8;
            List<Long> left = offsetByte ? offsets(5) : List.of(0L, 1L, 3L, 4L);
            assertThat(readAll(journal, 0)).as("byte " + at).isEqualTo(left);
        }
    }

    @Test
    void shouldTakeABatchForDamagedThatNoProducerCouldHaveSentThoughItsChecksumIsRight() throws IOException {
        byte[] whole = writtenLog(5);
        int batchBytes = whole.length / 5;
        int second = 2 * batchBytes;
        for (int records : List.of(-1, 2, Integer.MAX_VALUE)) {
            ByteBuf impossible = Unpooled.wrappedBuffer(whole.clone());
            impossible.setInt(second + RecordBatch.RECORD_COUNT, records);
            RecordBatch.setCrc(
                    impossible,
                    second,
                    Crc32c.compute(impossible, second + RecordBatch.ATTRIBUTES, batchBytes - RecordBatch.ATTRIBUTES));
            put(LOG, impossible.array());
            store.delete(CHECKPOINT);

            Journal journal = open(SMALL);

            assertThat(readAll(journal, 0)).as("%d records", records).isEqualTo(List.of(0L, 1L, 3L, 4L));
        }
    }

    @Test // found by the fuzzing target journal-files
    void shouldUseNoCheckpointThatContradictsItselfThoughItsChecksumIsRight() throws IOException {
        Journal stopped = open(SMALL);
        append(stopped, 5, 1, 50);
        stopped.close();
        JournalCheckpoint right = JournalCheckpoint.decode(CHECKPOINT, content(CHECKPOINT));
        SegmentState segment = right.segments().get(0);
        int sizeBytes = segment.extent().sizeBytes();
        List<SegmentState> impossible = List.of(
                new SegmentState(new SegmentExtent(0, -1, 5), segment.times(), new int[0]),
                new SegmentState(new SegmentExtent(0, sizeBytes, -1), segment.times(), new int[0]),
                new SegmentState(segment.extent(), segment.times(), new int[] {0, sizeBytes + 1}),
                new SegmentState(segment.extent(), segment.times(), new int[] {sizeBytes, 0}),
                new SegmentState(segment.extent(), segment.times(), new int[] {0}));
        for (SegmentState wrong : impossible) {
            put(
                    CHECKPOINT,
                    new JournalCheckpoint(0, 0, 0, right.epochs(), List.of(wrong))
                            .encode()
                            .array());

            Journal journal = open(SMALL);

            assertThat(readAll(journal, 0)).as("%s", wrong.extent()).isEqualTo(offsets(5));
        }
    }

    @Test
    void shouldRestoreTheHighWatermarkWhenACheckpointHasStoredIt() throws IOException {
        Journal stopped = open(SMALL);
        append(stopped, 5, 1, 50);
        stopped.setHighWatermark(3);
        stopped.close();

        assertThat(open(SMALL).highWatermark()).isEqualTo(3);
    }

    @Test
    void shouldKnowThatRecordsBelowTheHighWatermarkAreMissingUntilItsEndIsAccepted() throws IOException {
        // given
        Journal stopped = open(SMALL);
        append(stopped, 5, 1, 50);
        stopped.setHighWatermark(4);
        stopped.close();

        // when
        byte[] log = content(LOG);
        put(LOG, Arrays.copyOf(log, log.length / 5 * 2));

        // then each start finds it out
        for (int start = 0; start < 2; start++) {
            Journal journal = open(SMALL);
            assertThat(journal.endOffset()).isEqualTo(2);
            assertThat(journal.isMissingRecords()).isTrue();
            journal.setHighWatermark(2);
            journal.checkpoint();
            journal.close();
        }

        // and not any more when the other replicas have no more
        Journal journal = open(SMALL);
        journal.acceptEnd();
        assertThat(journal.highWatermark()).isEqualTo(2);
        journal.checkpoint();
        journal.close();
        assertThat(open(SMALL).isMissingRecords()).isFalse();
    }

    @Test
    void shouldMoveTheHighWatermarkBackWhenTheLogIsTruncatedBelowIt() throws IOException {
        Journal journal = open(SMALL);
        append(journal, 5, 1, 50);
        journal.setHighWatermark(4);

        journal.truncateTo(3);

        assertThat(journal.highWatermark()).isEqualTo(3);
        assertThat(open(SMALL).highWatermark()).isEqualTo(3);
    }

    @Test
    void shouldTakeTheSyncedEndAsHighWatermarkWhenTheCheckpointIsOfAnEarlierFormat() throws IOException {
        // given
        Journal stopped = open(SMALL);
        append(stopped, 5, 1, 50);
        stopped.setHighWatermark(3);
        stopped.close();

        // when the checkpoint is of version 2, which has no high watermark
        ByteBuffer now = ByteBuffer.wrap(content(CHECKPOINT));
        int at = CHECKPOINT_HEADER_BYTES + 2 * Long.BYTES;
        ByteBuffer earlier = ByteBuffer.allocate(now.capacity() - Long.BYTES);
        earlier.put(now.duplicate().limit(at)).put(now.duplicate().position(at + Long.BYTES));
        earlier.putInt(4, 2);
        CRC32C crc = new CRC32C();
        crc.update(earlier.array(), 0, 8);
        crc.update(earlier.array(), CHECKPOINT_HEADER_BYTES, earlier.capacity() - CHECKPOINT_HEADER_BYTES);
        put(CHECKPOINT, earlier.putInt(8, (int) crc.getValue()).array());

        // then
        Journal journal = open(SMALL);
        assertThat(readAll(journal, 0)).isEqualTo(offsets(5));
        assertThat(journal.highWatermark()).isEqualTo(5);
    }

    @Test // found by the fuzzing target journal-files
    void shouldUseNoIndexThatContradictsItselfThoughItsChecksumIsRight() throws IOException {
        Journal stopped = open(SMALL);
        append(stopped, 20, 1, 50);
        stopped.close();
        byte[] right = content(INDEX);
        int second = INDEX_HEADER_BYTES + INDEX_ENTRY_BYTES;
        for (int position : new int[] {-1, 0, 7, Integer.MAX_VALUE}) {
            ByteBuffer wrong = ByteBuffer.wrap(right.clone()).putInt(second + Integer.BYTES, position);
            CRC32C crc = new CRC32C();
            crc.update(wrong.array(), 0, INDEX_HEADER_BYTES - Integer.BYTES);
            crc.update(wrong.array(), INDEX_HEADER_BYTES, right.length - INDEX_HEADER_BYTES);
            wrong.putInt(INDEX_HEADER_BYTES - Integer.BYTES, (int) crc.getValue());
            put(INDEX, wrong.array());

            Journal journal = open(SMALL);

            for (int from = 0; from < 20; from++) {
                assertThat(readAll(journal, from))
                        .as("position %d from %d", position, from)
                        .isEqualTo(offsets(20).subList(from, 20));
            }
        }
    }

    @Test
    void shouldRepairTheEpochWhenABitOfItIsFlipped() throws IOException {
        byte[] whole = writtenLog(5);
        int batchBytes = whole.length / 5;
        for (int batch = 0; batch < 4; batch++) {
            for (int bit = 0; bit < Integer.SIZE; bit++) {
                byte[] flipped = whole.clone();
                flipped[batch * batchBytes + 12 + bit / 8] ^= (byte) (1 << bit % 8);
                put(LOG, flipped);
                store.delete(CHECKPOINT);

                Journal journal = open(SMALL);

                assertThat(readAll(journal, 0)).isEqualTo(offsets(5));
                assertThat(journal.epochs().latest())
                        .as("batch %d bit %d", batch, bit)
                        .isEqualTo(1);
                assertThat(journal.epochs().endOffsetOf(1, journal.writtenOffset()))
                        .isEqualTo(new EpochEndOffset(1, 5));
                if (batch > 0) { // There is no batch before the first one to compare with.
                    assertThat(Arrays.equals(content(LOG), whole)).isTrue();
                }
            }
        }
    }

    @Test
    void shouldRepairTheLastEpochWhenItIsNewerThanTheOwnerKnows() throws IOException {
        byte[] whole = writtenLog(5);
        int batchBytes = whole.length / 5;
        byte[] flipped = whole.clone();
        flipped[4 * batchBytes + 15] = 9;
        put(LOG, flipped);

        Journal journal = Journal.open(store, DIRECTORY, SMALL, 8, RecoveryRules.ALONE, Runnable::run);

        assertThat(journal.epochs().latest()).isEqualTo(1);
        assertThat(content(LOG)).isEqualTo(whole);
    }

    @Test
    void shouldCutZerosWhenTheFileWasPreallocated() throws IOException {
        byte[] whole = writtenLog(5);
        put(LOG, Arrays.copyOf(whole, whole.length + 10_000));

        Journal journal = open(SMALL);

        assertThat(journal.writtenOffset()).isEqualTo(5);
        assertThat(content(LOG)).isEqualTo(whole);
    }

    @Test
    void shouldServeTheHealthyPartWhenAnOldSegmentIsDamaged() throws IOException {
        // given
        JournalConfig config = SMALL.withSegmentSizeBytes(1_000);
        Journal killed = open(config);
        append(killed, 40, 1, 50);
        int batches = (int) killed.segments()[0].endOffset();
        byte[] damaged = content(LOG);
        int batchBytes = damaged.length / batches;
        damaged[2 * batchBytes + 8] ^= 1; // a length
        damaged[5 * batchBytes + 40] ^= 1;
        put(LOG, damaged);
        store.delete(CHECKPOINT);

        // when
        Journal journal = open(config);

        // then
        List<Long> left = new ArrayList<>(offsets(40));
        left.remove(5L);
        left.remove(2L);
        assertThat(readAll(journal, 0)).isEqualTo(left);
        assertThat(readAll(journal, 2)).isEqualTo(left.subList(2, left.size()));
        assertThat(content(LOG)).isEqualTo(damaged);

        // and the damage is remembered without reading the log again
        journal.close();
        assertThat(readAll(open(config), 0)).isEqualTo(left);
    }

    @Test
    void shouldCheckTheLogWhenAnyByteOfTheCheckpointIsBad() throws IOException {
        Journal closed = open(SMALL.withSegmentSizeBytes(1_000));
        append(closed, 20, 1, 50);
        closed.close();
        byte[] healthy = content(CHECKPOINT);
        for (int at = 0; at < healthy.length; at++) {
            byte[] flipped = healthy.clone();
            flipped[at] ^= 0x40;
            put(CHECKPOINT, flipped);
            assertThat(readAll(open(SMALL), 0)).isEqualTo(offsets(20));
            put(CHECKPOINT, Arrays.copyOf(healthy, at));
            assertThat(readAll(open(SMALL), 0)).isEqualTo(offsets(20));
        }
    }

    @Test
    void shouldRebuildTheIndexWhenItIsMissingOrDamaged() throws IOException {
        Journal closed = open(SMALL);
        append(closed, 30, 1, 50);
        closed.close();
        byte[] healthy = content(INDEX);
        for (int at = 0; at < healthy.length; at++) {
            byte[] flipped = healthy.clone();
            flipped[at] ^= 0x40;
            put(INDEX, flipped);
            assertThat(readAll(open(SMALL), 17)).first().isEqualTo(17L);
        }
        store.delete(INDEX);
        Journal journal = open(SMALL);
        assertThat(readAll(journal, 17)).first().isEqualTo(17L);
        assertThat(findByTimestamp(journal, 1_020).offset()).isEqualTo(20);
    }

    @Test
    void shouldCheckAllOfASegmentWhenItIsShorterThanItsCheckpoint() throws IOException {
        Journal closed = open(SMALL);
        append(closed, 30, 1, 50);
        closed.close();
        byte[] whole = content(LOG);
        put(LOG, Arrays.copyOf(whole, whole.length / 2 + 7));

        Journal journal = open(SMALL);

        assertThat(journal.writtenOffset()).isEqualTo(15);
        assertThat(readAll(journal, 0)).isEqualTo(offsets(15));
    }

    @Test
    void shouldTakeTheOlderSnapshotWhenTheNewestIsBad() throws IOException {
        Journal journal = open(SMALL);
        append(journal, 5, 1, 50);
        journal.derivedState().writeSnapshot(3, ByteBuffer.wrap(new byte[] {3}));
        journal.derivedState().writeSnapshot(5, ByteBuffer.wrap(new byte[] {5}));
        Path newest = DIRECTORY.resolve("00000000000000000005.snapshot");
        byte[] healthy = content(newest);
        for (int at = 0; at < healthy.length; at++) {
            byte[] flipped = healthy.clone();
            flipped[at] ^= 1;
            put(newest, flipped);
            assertThat(journal.derivedState().restoreSnapshot().offset()).isEqualTo(3);
        }
    }

    @Test
    void shouldForgetTheStartOffsetOnlyWhenTheCheckpointIsLost() throws IOException {
        Journal killed = open(SMALL);
        append(killed, 10, 1, 50);
        killed.deleteRecordsBefore(4);
        assertThat(open(SMALL).startOffset()).isEqualTo(4);
        store.delete(CHECKPOINT);
        assertThat(open(SMALL).startOffset()).isZero();
    }

    @Test
    void shouldOpenNoLogWhenJournalsWereClosedCleanly(@TempDir Path data) throws IOException {
        // given
        int count = 100;
        FaultyFileStore files = new FaultyFileStore(new SystemFileStore());
        files.syncSkipped = true;
        for (int i = 0; i < count; i++) {
            try (Journal journal = Journal.open(files, data.resolve("t-" + i), SMALL, Runnable::run)) {
                append(journal, 1, 1, 50);
            }
        }
        files.opened.clear();
        Map<String, Integer> calls = new TreeMap<>();
        FileStore counted = counting(files, calls);

        // when
        long allocatedBefore = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < count; i++) {
            Journal journal =
                    Journal.open(counted, data.resolve("t-" + i), SMALL, 1, RecoveryRules.ALONE, Runnable::run);
            assertThat(journal.writtenOffset()).isEqualTo(1);
        }
        long allocatedBytes = THREADS.getCurrentThreadAllocatedBytes() - allocatedBefore;

        // then
        assertThat(files.opened).isEmpty();
        assertThat(calls).isEqualTo(Map.of("list", count, "read", count, "sizeBytes", count));
        assertThat(allocatedBytes / count).as("bytes per journal").isLessThan(MAX_OPEN_BYTES);
        assertThat(Files.isRegularFile(data.resolve("t-7").resolve(JournalCheckpoint.FILE_NAME)))
                .isTrue();
    }

    /** Passes calls to {@code store}, and counts them by the names of the methods. */
    private static FileStore counting(FileStore store, Map<String, Integer> calls) {
        return (FileStore) Proxy.newProxyInstance(
                FileStore.class.getClassLoader(), new Class<?>[] {FileStore.class}, (proxy, method, arguments) -> {
                    calls.merge(method.getName(), 1, Integer::sum);
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }
}
