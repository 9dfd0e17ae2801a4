package io.journalq.server.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.segment.LeaderEpochs.EpochEndOffset;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Append, read, roll and reopen on real files. */
class JournalTest {
    private static final JournalConfig SMALL =
            JournalConfig.DEFAULT.withSegmentSizeBytes(4_000).withIndexIntervalBytes(500);

    @TempDir
    Path directory;

    private Journal open(JournalConfig config) throws IOException {
        return Journal.open(new SystemFileStore(), directory, config, Runnable::run);
    }

    private static void append(Journal journal, int batches, int valueBytes) throws IOException {
        for (int i = 0; i < batches; i++) {
            ByteBuf batch = TestBatches.batch(2, valueBytes, 1_000 + journal.endOffset());
            journal.append(batch, 3);
            batch.release();
        }
        journal.write();
    }

    private static List<Long> readAll(Journal journal, long from) throws IOException {
        List<Long> baseOffsets = new ArrayList<>();
        long next = from;
        while (next < journal.writtenOffset()) {
            JournalSlice slice = journal.read(next, Long.MAX_VALUE, 1_000, true);
            ByteBuf bytes = slice.readFully(UnpooledByteBufAllocator.DEFAULT);
            assertThat(bytes.isReadable()).isTrue();
            for (int at = 0; at < bytes.readableBytes(); at += RecordBatch.sizeBytes(bytes, at)) {
                baseOffsets.add(RecordBatch.baseOffset(bytes, at));
                next = RecordBatch.nextOffset(bytes, at);
            }
            bytes.release();
        }
        return baseOffsets;
    }

    @Test
    void shouldReadWhatWasAppendedWhenItIsWritten() throws IOException {
        try (Journal journal = open(JournalConfig.DEFAULT)) {
            // given
            ByteBuf batch = TestBatches.batch(2, 100, 1_000);
            assertThat(journal.append(batch, 3)).isZero();
            ByteBuf second = batch.copy();
            assertThat(journal.append(second, 3)).isEqualTo(2);
            second.release();
            assertThat(journal.read(0, Long.MAX_VALUE, 10_000, true).isEmpty()).isTrue();

            // when
            journal.write();

            // then
            assertThat(journal.writtenOffset()).isEqualTo(4);
            JournalSlice slice = journal.read(3, Long.MAX_VALUE, 10_000, true);
            assertThat(slice.isWarm()).isTrue();
            ByteBuf bytes =
                    slice.toRecordsData(UnpooledByteBufAllocator.DEFAULT).buffer();
            assertThat(RecordBatch.baseOffset(bytes, 0)).isEqualTo(2);
            assertThat(RecordBatch.leaderEpoch(bytes, 0)).isEqualTo(3);
            bytes.release();
            assertThat(batch.release()).isTrue();
        }
    }

    @Test
    void shouldReadEveryBatchOnceWhenSegmentsRoll() throws IOException {
        try (Journal journal = open(SMALL)) {
            append(journal, 100, 100);

            assertThat(journal.segmentCount()).isGreaterThan(5);
            assertThat(readAll(journal, 0)).hasSize(100).isSorted().doesNotHaveDuplicates();
            assertThat(readAll(journal, 101)).startsWith(100L).hasSize(50);
        }
    }

    @Test
    void shouldKeepEverythingWhenClosedAndOpened() throws IOException {
        // given
        try (Journal journal = open(SMALL)) {
            append(journal, 50, 100);
        }

        // when
        try (Journal journal = open(SMALL)) {
            append(journal, 50, 100);

            // then
            assertThat(journal.endOffset()).isEqualTo(200);
            assertThat(readAll(journal, 0)).hasSize(100).isSorted();
            assertThat(journal.epochs().latest()).isEqualTo(3);
        }
    }

    @Test
    void shouldKeepEverythingWrittenWhenNotClosed() throws IOException {
        // given
        Journal killed = open(SMALL);
        append(killed, 50, 100);

        // when
        try (Journal journal = open(SMALL)) {
            // then
            assertThat(journal.endOffset()).isEqualTo(100);
            assertThat(readAll(journal, 0)).hasSize(50);
        }
    }

    @Test
    void shouldRefuseASearchInsteadOfFindingNothingWhenClosed() throws IOException {
        Journal journal = open(JournalConfig.DEFAULT);
        append(journal, 1, 100);
        journal.close();

        assertThatThrownBy(() -> TestJournals.findByTimestamp(journal, 0))
                .isInstanceOf(IOException.class)
                .hasMessage("the log is closed");
    }

    @Test
    void shouldStopAtTheGivenEndWhenMoreIsWritten() throws IOException {
        try (Journal journal = open(JournalConfig.DEFAULT)) {
            append(journal, 10, 100);

            JournalSlice slice = journal.read(0, 6, 100_000, true);

            ByteBuf bytes = slice.readFully(UnpooledByteBufAllocator.DEFAULT);
            assertThat(bytes.readableBytes()).isEqualTo(3 * RecordBatch.sizeBytes(bytes, 0));
            bytes.release();
        }
    }

    @Test
    void shouldEndTheNewestEpochAtTheEndOfTheLogWhenItHasNoRecords() throws IOException {
        try (Journal journal = open(JournalConfig.DEFAULT)) {
            append(journal, 2, 100);

            journal.beginEpoch(5);

            assertThat(end(journal, 3)).isEqualTo(new EpochEndOffset(3, 4));
            assertThat(end(journal, 4)).isEqualTo(new EpochEndOffset(3, 4));
            assertThat(end(journal, 5)).isEqualTo(new EpochEndOffset(5, 4));
        }
    }

    @Test
    void shouldKeepOnlyTheNewestEpochWhenSeveralBeginAtTheSameOffset() throws IOException {
        try (Journal journal = open(JournalConfig.DEFAULT)) {
            append(journal, 2, 100);

            for (int epoch = 4; epoch < 1_000; epoch++) {
                journal.beginEpoch(epoch);
            }

            assertThat(journal.epochs().epochs()).containsExactly(3, 999);
            assertThat(end(journal, 500)).isEqualTo(new EpochEndOffset(3, 4));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {4, 5, Long.MAX_VALUE})
    void shouldForgetAnEpochWithoutRecordsWhenTruncatedToTheEndOrBehindIt(long offset) throws IOException {
        // given a leader that appended nothing in its epoch
        try (Journal journal = open(JournalConfig.DEFAULT)) {
            append(journal, 2, 100);
            journal.beginEpoch(5);

            // when it becomes a follower of a leader that does not have this epoch (KAFKA-10706)
            assertThat(journal.truncateTo(offset)).isEqualTo(4);

            // then
            assertThat(journal.epochs().latest()).isEqualTo(3);
            assertThat(end(journal, 3)).isEqualTo(new EpochEndOffset(3, 4));
        }
    }

    @Test
    void shouldForgetAnEpochWithoutRecordsWhenOpenedAgain() throws IOException {
        try (Journal journal = open(JournalConfig.DEFAULT)) {
            append(journal, 2, 100);
            journal.beginEpoch(5);
            journal.checkpoint();
        }
        try (Journal journal = open(JournalConfig.DEFAULT)) {
            assertThat(journal.epochs().latest()).isEqualTo(3);
        }
    }

    @Test
    void shouldKnowNothingOfTruncatedRecordsWhenOthersReplaceThem() throws IOException {
        // given records of a newer epoch, and a snapshot as of their end
        try (Journal journal = open(JournalConfig.DEFAULT)) {
            append(journal, 5, 100);
            ByteBuf newer = TestBatches.batch(10, 100, 1_000);
            journal.append(newer, 5);
            newer.release();
            journal.write();
            long offset = journal.writtenOffset();
            journal.derivedState().writeDurableSnapshot(offset, ByteBuffer.wrap(new byte[] {1}));

            // when they are removed
            assertThat(journal.truncateTo(12)).isEqualTo(10);

            // then the epoch before ends there
            assertThat(journal.epochs().latest()).isEqualTo(3);
            assertThat(end(journal, 3)).isEqualTo(new EpochEndOffset(3, 10));

            // and the snapshot is not that of the records that replace them
            append(journal, 10, 100);
            assertThat(journal.writtenOffset()).isGreaterThan(offset);
            assertThat(journal.derivedState().restoreSnapshot()).isNull();
        }
    }

    @Test
    void shouldSyncItsFilesBeforeATruncationMakesTheWriteAheadFilesVoid() throws IOException {
        // given records that only the write-ahead files hold for certain
        try (Journal journal = open(JournalConfig.DEFAULT)) {
            List<Long> flushed = new ArrayList<>();
            journal.setObserver(new JournalWrites() {
                @Override
                public void onWritten(long segmentBaseOffset, int position, long endOffset, List<ByteBuf> batches) {
                    // They are in the write-ahead files.
                }

                @Override
                public void beforeTruncation(long offset) {
                    flushed.add(journal.flushedOffset());
                }
            });
            append(journal, 10, 100);
            assertThat(journal.flushedOffset()).isZero();

            // when
            journal.truncateTo(10);

            // then a power loss takes none of the records that remain
            assertThat(flushed).containsExactly(20L);
        }
    }

    private static EpochEndOffset end(Journal journal, int epoch) {
        return journal.epochs().endOffsetOf(epoch, journal.writtenOffset());
    }

    @Test
    void shouldBeDeletedWhenAnEarlierDeletionWasNotFinished() throws IOException {
        // given
        Path leftover = directory.resolveSibling(directory.getFileName() + ".deleted");
        Files.createDirectories(leftover.resolve("of a process that was stopped"));

        // when
        try (Journal journal = open(SMALL)) {
            append(journal, 100, 100);
            journal.delete();
        }

        // then
        assertThat(directory).doesNotExist();
        assertThat(leftover.resolve("of a process that was stopped")).doesNotExist();
    }

    @Test
    void shouldHaveNoSnapshotOfTruncatedRecordsWhenItIsWrittenLate() throws IOException {
        // given the state of an owner that has not stored it yet
        Journal last = open(SMALL);
        append(last, 10, 100);
        long offset = last.writtenOffset();
        ByteBuffer state = ByteBuffer.wrap(new byte[] {1});

        // when its log is truncated, and the next owner appends other records
        last.truncateTo(10);
        last.derivedState().writeDurableSnapshot(offset, state);
        last.close();
        try (Journal next = open(SMALL)) {
            last.derivedState().writeDurableSnapshot(offset, state);
            append(next, 10, 100);
            assertThat(next.writtenOffset()).isGreaterThan(offset);
        }

        // then
        try (Journal journal = open(SMALL)) {
            assertThat(journal.derivedState().restoreSnapshot()).isNull();
        }
    }
}
