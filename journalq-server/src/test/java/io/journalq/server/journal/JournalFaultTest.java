package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static io.journalq.server.journal.TestJournals.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.journalq.common.protocol.RecordsData;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.segment.Segment;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.FileRegion;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Disks that fill up or fail under an open journal, and segments that are deleted under their readers. */
class JournalFaultTest {
    private static final Path DIRECTORY = Path.of("data", "topic-0");

    private final MemoryFileStore memory = new MemoryFileStore();
    private final FaultyFileStore store = new FaultyFileStore(memory);

    private Journal open() throws IOException {
        return Journal.open(store, DIRECTORY, JournalConfig.DEFAULT, Runnable::run);
    }

    @Test
    void shouldLoseNothingAndGoOnWhenTheDiskFillsUpAtAnyByte() throws IOException {
        Journal journal = open();
        append(journal, 3, 1, 50);
        int batchBytes = (int) journal.sizeBytes() / 3;
        for (int room = 0; room < 3 * batchBytes; room += 7) {
            long before = journal.writtenOffset();
            store.setWritableBytes(room);
            store.truncateFails = room % 2 == 0;

            assertThatThrownBy(() -> append(journal, 3, 1, 50)).isInstanceOf(IOException.class);

            assertThat(journal.writtenOffset()).isEqualTo(before);
            assertThat(journal.endOffset()).isEqualTo(before);
            assertThat(readAll(journal, 0)).hasSize((int) before);
            store.setWritableBytes(Long.MAX_VALUE);
            // The bytes of the failed write are removed first, durably: a power loss could mix them with later ones.
            assertThatThrownBy(() -> append(journal, 1, 1, 50)).hasMessageContaining("a failed write");
            if (store.truncateFails) {
                assertThatThrownBy(journal::flush).isInstanceOf(SyncNotBegunException.class);
                store.truncateFails = false;
            }
            journal.flush();
            append(journal, 1, 1, 50);
            assertThat(readAll(open(), 0))
                    .isEqualTo(LongStream.rangeClosed(0, before).boxed().toList());
        }
    }

    @Test
    void shouldCompleteADeletionThatHasFailedAtTheNextCheckOfRetention() throws IOException {
        JournalConfig small = JournalConfig.DEFAULT.withSegmentSizeBytes(1);
        Journal journal = Journal.open(store, DIRECTORY, small, Runnable::run);
        append(journal, 3, 1, 50);
        journal.flush();

        // when nothing can be deleted for a while
        store.setReplaceFails(true);
        store.directoryOpensFail = true;
        journal.deleteRecordsBefore(2);
        assertThat(journal.applyRetention(0, 3)).isZero();
        assertThat(memory.list(DIRECTORY)).filteredOn(Segment::isLog).hasSize(3);
        store.setReplaceFails(false);
        store.directoryOpensFail = false;

        // then it is not too late
        assertThat(journal.applyRetention(0, 3)).isZero();
        assertThat(memory.list(DIRECTORY)).filteredOn(Segment::isLog).hasSize(1);
        assertThat(journal.keptStartOffset()).isEqualTo(2);
    }

    @Test
    void shouldBeginTheEpochAtTheEndThatRemainsWhenItsFirstWriteFails() throws IOException {
        // given a batch of epoch 1 that is acknowledged, one that is not, and one of the epoch that began behind them
        Journal journal = open();
        append(journal, 3, 1, 50);
        stage(journal, 1);
        stage(journal, 1);
        journal.beginEpoch(2);
        stage(journal, 2);

        // when they cannot be written
        store.setFull(true);
        assertThatThrownBy(() -> journal.write(4)).isInstanceOf(IOException.class);
        store.setFull(false);

        // then epoch 2 begins behind the batch that stays
        assertThat(journal.epochs().epochs()).containsExactly(1, 2);
        assertThat(journal.epochs().startOffsets()).containsExactly(0, 4);
        journal.flush();
        stage(journal, 2);
        journal.write();
        assertThat(journal.epochs().startOffsets()).containsExactly(0, 4);
        assertThat(journal.writtenOffset()).isEqualTo(5);
    }

    @Test
    void shouldKeepTheEpochOfABatchWhenItsEpochBeganBehindBatchesThatCouldNotBeWritten() throws IOException {
        // given an epoch that began at offset 4, and a checkpoint
        Journal journal = open();
        append(journal, 3, 1, 50);
        stage(journal, 1);
        journal.beginEpoch(2);
        journal.checkpoint();

        // when the batch before it is dropped, the epoch's first batch takes its place, and the broker is killed
        store.setFull(true);
        assertThatThrownBy(journal::write).isInstanceOf(IOException.class);
        store.setFull(false);
        journal.flush();
        stage(journal, 2);
        journal.write();

        // then
        Journal opened = open();
        assertThat(opened.epochs().epochs()).containsExactly(1, 2);
        assertThat(opened.epochs().startOffsets()).containsExactly(0, 3);
    }

    private static void stage(Journal journal, int leaderEpoch) {
        ByteBuf batch = TestBatches.batch(1, 50, 1_000);
        journal.append(batch, leaderEpoch);
        batch.release();
    }

    @Test // seed 92001015
    void shouldNotReuseTheRangeOfAFailedWriteBeforeItsRemovalIsSynced() throws IOException {
        // given
        Runnable[] onSync = {() -> {}};
        FileStore watched = new FilterFileStore(store) {
            @Override
            public LogFile open(Path file, boolean create) throws IOException {
                return new FilterLogFile(super.open(file, create)) {
                    @Override
                    public void sync() throws IOException {
                        onSync[0].run();
                        super.sync();
                    }
                };
            }
        };
        Journal journal = Journal.open(watched, DIRECTORY, JournalConfig.DEFAULT, Runnable::run);
        append(journal, 1, 1, 50);
        store.setWritableBytes(20);
        assertThatThrownBy(() -> append(journal, 1, 1, 50)).isInstanceOf(IOException.class);
        store.setWritableBytes(Long.MAX_VALUE);

        // when a write is due while the next flush syncs for the first time
        List<Throwable> refusals = new ArrayList<>();
        onSync[0] = () -> {
            onSync[0] = () -> {};
            refusals.add(catchThrowable(() -> append(journal, 1, 1, 50)));
        };
        journal.flush();

        // then
        assertThat(refusals).singleElement().isInstanceOf(IOException.class);
        append(journal, 1, 1, 50);
        assertThat(readAll(journal, 0)).containsExactly(0L, 1L);
    }

    @Test
    void shouldTakeNoMoreWritesWhenAFlushFailed() throws IOException {
        Journal journal = open();
        append(journal, 3, 1, 50);
        store.syncFails = true;
        assertThatThrownBy(journal::flush).isInstanceOf(IOException.class);
        store.syncFails = false;

        assertThatThrownBy(journal::flush).hasMessageContaining("fenced");
        assertThatThrownBy(() -> append(journal, 1, 1, 50)).hasMessageContaining("fenced");

        assertThat(journal.flushedOffset()).isZero();
        assertThat(readAll(journal, 0)).hasSize(3);
    }

    @Test
    void shouldFlushLaterWhenNoFileCouldBeOpenedForIt() throws IOException {
        // given a new file, whose directory cannot be opened for a sync
        Journal journal = open();
        append(journal, 3, 1, 50);
        store.directoryOpensFail = true;

        // when, then
        assertThatThrownBy(journal::flush).isInstanceOf(SyncNotBegunException.class);
        assertThat(journal.flushedOffset()).isZero();
        append(journal, 1, 1, 50);

        // and once there are file handles again
        store.directoryOpensFail = false;
        assertThat(journal.flush()).isEqualTo(4);
        assertThat(readAll(open(), 0)).hasSize(4);
    }

    @Test
    void shouldReadASliceWhenItsSegmentWasDeletedMeanwhile(@TempDir Path data) throws IOException {
        JournalConfig config =
                JournalConfig.DEFAULT.withSegmentSizeBytes(100_000).withRetention(1, 0);
        try (Journal journal = Journal.open(new SystemFileStore(), data.resolve("t-0"), config, Runnable::run)) {
            append(journal, 300, 10, 100);
            JournalSlice cold = journal.read(0, Long.MAX_VALUE, 50_000, true);
            append(journal, 50, 10, 100);
            long warmOffset = journal.segments()[journal.segmentCount() - 2].baseOffset();
            JournalSlice warm = journal.read(warmOffset, Long.MAX_VALUE, 50_000, true);
            assertThat(cold.isWarm()).isFalse();
            assertThat(warm.isWarm()).isTrue();

            assertThat(journal.applyRetention(Long.MAX_VALUE / 2, Long.MAX_VALUE))
                    .isPositive();

            assertThat(journal.startOffset()).isEqualTo(journal.writtenOffset());
            ByteBuf bytes = cold.readFully(UnpooledByteBufAllocator.DEFAULT);
            assertThat(RecordBatch.baseOffset(bytes, 0)).isZero();
            FileRegion region =
                    warm.toRecordsData(UnpooledByteBufAllocator.DEFAULT).region();
            ByteArrayOutputStream sent = new ByteArrayOutputStream();
            region.transferTo(Channels.newChannel(sent), 0);
            assertThat(sent.size()).isEqualTo(warm.sizeBytes());
            assertThat(region.release()).isTrue();
            assertThat(bytes.release()).isTrue();
            assertThat(new SystemFileStore().list(data.resolve("t-0")))
                    .noneMatch(name -> name.endsWith(Segment.DELETED_SUFFIX))
                    .doesNotContain("00000000000000000000.log");
        }
    }

    @Test
    void shouldSendAPartOfASliceWhenItsSegmentWasDeletedAndTheSliceReleasedMeanwhile(@TempDir Path data)
            throws IOException {
        JournalConfig config =
                JournalConfig.DEFAULT.withSegmentSizeBytes(100_000).withRetention(1, 0);
        try (Journal journal = Journal.open(new SystemFileStore(), data.resolve("t-0"), config, Runnable::run)) {
            // given a part of a slice
            append(journal, 300, 10, 100);
            long warmOffset = journal.segments()[journal.segmentCount() - 1].baseOffset();
            JournalSlice warm = journal.read(warmOffset, Long.MAX_VALUE, 50_000, true);
            RecordsData records = warm.toRecordsData(UnpooledByteBufAllocator.DEFAULT);
            ByteBuffer expected = ByteBuffer.allocate(1_000);
            records.file().read(expected, 500);
            FileRegion part = records.file().region(500, 1_000);
            Segment segment = journal.segments()[journal.segmentCount() - 1];

            // when
            records.release();
            append(journal, 300, 10, 100);
            assertThat(journal.applyRetention(Long.MAX_VALUE / 2, Long.MAX_VALUE))
                    .isPositive();

            // then
            ByteArrayOutputStream sent = new ByteArrayOutputStream();
            part.transferTo(Channels.newChannel(sent), 0);
            assertThat(sent.toByteArray()).isEqualTo(expected.array());
            assertThat(segment.isOpen()).isTrue();
            assertThat(part.release()).isTrue();
            assertThat(segment.isOpen()).isFalse();
        }
    }

    @Test
    void shouldKeepAClosedSegmentWhenRetentionIsPastItButItIsNotCommitted() throws IOException {
        // given
        JournalConfig config = JournalConfig.DEFAULT.withSegmentSizeBytes(1_000).withRetention(1, 0);
        Journal journal = Journal.open(store, DIRECTORY, config, Runnable::run);
        append(journal, 40, 1, 50);
        long committed = journal.segments()[2].baseOffset() + 1;

        // when
        int deleted = journal.applyRetention(Long.MAX_VALUE / 2, committed);

        // then
        assertThat(deleted).isEqualTo(2);
        assertThat(journal.startOffset()).isLessThan(committed);
        assertThat(readAll(journal, committed)).isNotEmpty();
    }

    @Test
    void shouldReadWholeBatchesWhenReadersRunBesideTheOwner(@TempDir Path data) throws Exception {
        JournalConfig config = JournalConfig.DEFAULT
                .withSegmentSizeBytes(50_000)
                .withWarmSizeBytes(0)
                .withRetention(JournalConfig.UNLIMITED, 200_000);
        ExecutorService readers = Executors.newFixedThreadPool(2);
        try (Journal journal = Journal.open(new SystemFileStore(), data.resolve("t-0"), config, readers)) {
            Future<?> last = null;
            for (int i = 0; i < 300; i++) {
                append(journal, 10, 2, 200);
                journal.applyRetention(0, Long.MAX_VALUE);
                long offset = (journal.startOffset() + journal.writtenOffset()) / 2;
                JournalSlice slice = journal.read(offset, Long.MAX_VALUE, 20_000, true);
                last = readers.submit(() -> {
                    ByteBuf bytes = slice.readFully(PooledByteBufAllocator.DEFAULT);
                    try {
                        assertThat(RecordBatch.nextOffset(bytes, 0)).isGreaterThan(offset);
                        assertThat(RecordBatch.baseOffset(bytes, 0)).isLessThanOrEqualTo(offset);
                        return bytes.readableBytes();
                    } finally {
                        bytes.release();
                    }
                });
                journal.releaseIdleFiles();
                if (i % 50 == 0) {
                    journal.flush();
                }
                last.get();
            }
        } finally {
            readers.shutdown();
        }
    }

    @Test
    void shouldLeaveNothingWhenDeleted(@TempDir Path data) throws IOException {
        Journal journal =
                Journal.open(new SystemFileStore(), data.resolve("t-0"), JournalConfig.DEFAULT, Runnable::run);
        append(journal, 10, 2, 200);
        JournalSlice slice = journal.read(0, Long.MAX_VALUE, 20_000, true);

        journal.delete();

        assertThat(new SystemFileStore().list(data)).isEmpty();
        ByteBuf bytes = slice.readFully(UnpooledByteBufAllocator.DEFAULT);
        assertThat(bytes.readableBytes()).isPositive();
        bytes.release();
    }
}
