package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static io.journalq.server.journal.TestJournals.findByTimestamp;
import static io.journalq.server.journal.TestJournals.forEachBatch;
import static io.journalq.server.journal.TestJournals.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.segment.RecoveryRules;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Batches that a leader sent are appended as they are, all of a run or none. */
class BatchRunTest {
    private static final Path DIRECTORY = Path.of("data", "topic-0");
    private static final int LEADER_EPOCH = 5;

    private final CountingStore store = new CountingStore(new MemoryFileStore());
    private Journal journal;

    /** Counts the writes to files. */
    private static final class CountingStore extends FilterFileStore {
        int writes;

        CountingStore(FileStore delegate) {
            super(delegate);
        }

        @Override
        public LogFile open(Path file, boolean create) throws IOException {
            return new FilterLogFile(super.open(file, create)) {
                @Override
                public void write(ByteBuffer source, long position) throws IOException {
                    writes++;
                    delegate.write(source, position);
                }
            };
        }
    }

    @BeforeEach
    void open() throws IOException {
        journal = Journal.open(store, DIRECTORY, JournalConfig.DEFAULT.withSegmentSizeBytes(2_000), Runnable::run);
    }

    /** A batch of two records. */
    private static ByteBuf batch(long baseOffset, int epoch) {
        ByteBuf batch = TestBatches.batch(2, 50, 1_000 + baseOffset);
        RecordBatch.setBaseOffset(batch, 0, baseOffset);
        RecordBatch.setLeaderEpoch(batch, 0, epoch);
        return batch;
    }

    private static ByteBuf run(ByteBuf... batches) {
        return Unpooled.wrappedBuffer(batches);
    }

    private void appendAndWrite(ByteBuf run) throws IOException {
        journal.appendRun(run, LEADER_EPOCH);
        run.release();
        journal.write();
    }

    @Test
    void shouldKeepOffsetsAndEpochsWhenARunIsAppended() throws IOException {
        // when offsets have gaps, as behind compaction
        appendAndWrite(run(batch(0, 1), batch(2, 1), batch(10, 3), batch(15, 5)));
        appendAndWrite(run(batch(17, 5)));

        // then
        for (int life = 0; life < 2; life++) {
            assertThat(readAll(journal, 0)).containsExactly(0L, 2L, 10L, 15L, 17L);
            assertThat(journal.writtenOffset()).isEqualTo(19);
            assertThat(journal.epochs().epochs()).containsExactly(1, 3, 5);
            assertThat(journal.epochs().startOffsets()).containsExactly(0, 10, 15);
            open();
        }
    }

    @Test
    void shouldWriteARunAtOnceWhenItFitsIntoTheSegment() throws IOException {
        // given a run behind a byte that does not belong to it
        ByteBuf response = run(Unpooled.wrappedBuffer(new byte[1]), batch(0, 1), batch(2, 1), batch(4, 1), batch(6, 1));
        int before = store.writes;

        // when
        appendAndWrite(response.skipBytes(1));

        // then
        assertThat(store.writes - before).isEqualTo(1);
        assertThat(readAll(journal, 0)).containsExactly(0L, 2L, 4L, 6L);
    }

    @Test
    void shouldSpreadARunOverSegmentsWhenItIsLarger() throws IOException {
        ByteBuf[] batches = new ByteBuf[50];
        for (int i = 0; i < batches.length; i++) {
            batches[i] = batch(2L * i, 1);
        }

        appendAndWrite(run(batches));

        assertThat(journal.segmentCount()).isGreaterThan(2);
        assertThat(readAll(journal, 0)).hasSize(batches.length);
    }

    @Test
    void shouldAppendNothingWhenTheRunIsEmpty() throws IOException {
        appendAndWrite(Unpooled.buffer());

        assertThat(journal.isDirty()).isFalse();
        assertThat(journal.endOffset()).isZero();
    }

    private void shouldRefuse(String reason, ByteBuf run) throws IOException {
        int before = store.writes;
        long end = journal.endOffset();

        assertThatThrownBy(() -> journal.appendRun(run, LEADER_EPOCH))
                .as(reason)
                .isInstanceOf(InvalidBatchException.class);

        assertThat(run.refCnt()).as(reason).isEqualTo(1);
        run.release();
        assertThat(journal.endOffset()).as(reason).isEqualTo(end);
        journal.write();
        assertThat(store.writes).as(reason).isEqualTo(before);
    }

    private static ByteBuf changed(ByteBuf batch, Consumer<ByteBuf> change) {
        change.accept(batch);
        return batch;
    }

    @Test
    void shouldRefuseAllOfARunWhenOneBatchDoesNotContinueTheLog() throws IOException {
        append(journal, 2, 2, 50); // of epoch 1
        journal.beginEpoch(2);
        append(journal, 1, 2, 50);

        shouldRefuse("below the end", run(batch(5, 3)));
        shouldRefuse("the same offset twice", run(batch(6, 3), batch(6, 3)));
        shouldRefuse("an overlap", run(batch(6, 3), batch(7, 3)));
        shouldRefuse("descending offsets", run(batch(8, 3), batch(6, 3)));
        shouldRefuse("a gap that no segment can have", run(batch(6L + Integer.MAX_VALUE, 3)));
        shouldRefuse("the largest offset", run(batch(Long.MAX_VALUE, 3)));
        shouldRefuse("an epoch older than the log's", run(batch(6, 1)));
        shouldRefuse("descending epochs", run(batch(6, 4), batch(8, 3)));
        shouldRefuse("an epoch newer than the leader's", run(batch(6, 5), batch(8, 6)));
        shouldRefuse("no epoch", run(batch(6, -1)));
        assertThat(readAll(journal, 0)).containsExactly(0L, 2L, 4L);
    }

    @Test
    void shouldRefuseAllOfARunWhenTheBytesOfOneBatchAreDamaged() throws IOException {
        shouldRefuse("an incomplete header", run(batch(0, 1), batch(2, 1).copy(0, 60)));
        shouldRefuse("an incomplete batch", run(batch(0, 1), batch(2, 1).copy(0, 100)));
        shouldRefuse("a negative size", run(changed(batch(0, 1), bytes -> bytes.setInt(RecordBatch.LENGTH, -5))));
        shouldRefuse("a wrong size", run(changed(batch(0, 1), bytes -> bytes.setInt(RecordBatch.LENGTH, 100))));
        shouldRefuse("another magic", run(batch(0, 1), changed(batch(2, 1), bytes -> bytes.setByte(16, 1))));
        int sizeBytes = batch(2, 1).readableBytes();
        for (int at = RecordBatch.CRC; at < sizeBytes; at += 7) {
            int damagedAt = at;
            ByteBuf damaged = changed(batch(2, 1), bytes -> bytes.setByte(damagedAt, ~bytes.getByte(damagedAt)));
            shouldRefuse("damage at byte " + at, run(batch(0, 1), damaged));
        }
    }

    @Test
    void shouldContinueBehindAStagedRunWhenNothingIsWrittenYet() throws IOException {
        journal.appendRun(run(batch(0, 1), batch(2, 4)), LEADER_EPOCH);

        assertThatThrownBy(() -> journal.appendRun(run(batch(4, 3)), LEADER_EPOCH))
                .isInstanceOf(InvalidBatchException.class);
        journal.appendRun(run(batch(4, 4)), LEADER_EPOCH);
        journal.write();

        assertThat(readAll(journal, 0)).isEqualTo(List.of(0L, 2L, 4L));
    }

    @Test
    void shouldReadTheNextBatchWhenAnOffsetHasNoRecord() throws IOException {
        // given offsets that compaction has removed at the leader
        ByteBuf first = batch(0, 1);
        int sizeBytes = first.readableBytes();
        appendAndWrite(run(first, batch(10, 1)));

        // when there is room for one batch
        ByteBuf read = journal.read(2, Long.MAX_VALUE, sizeBytes, true).readFully(UnpooledByteBufAllocator.DEFAULT);

        // then
        assertThat(RecordBatch.baseOffset(read, 0)).isEqualTo(10);
        read.release();
    }

    @Test
    void shouldStartASegmentWithinARunWhenAnOffsetIsTooFarFromTheFirst() throws IOException {
        // given batches as far from each other as compaction may leave them
        long far = 2_000_000_000L;
        appendAndWrite(run(batch(0, 1)));

        // when
        appendAndWrite(run(batch(far, 1), batch(far + 500_000_000L, 1), batch(far + 500_000_002L, 1)));
        journal.flush();

        // then
        for (int life = 0; life < 2; life++) {
            assertThat(readAll(journal, 0)).containsExactly(0L, far, far + 500_000_000L, far + 500_000_002L);
            open();
        }
        assertThat(journal.segmentCount()).isEqualTo(2);
    }

    @Test
    void shouldFindTheFirstRecordOfATimeWhenTheLogBeginsFarBeforeItsSegment() throws IOException {
        // given segments with entries in their indexes, further from the start of the log than an int can tell
        JournalConfig config = JournalConfig.DEFAULT.withSegmentSizeBytes(1_000).withIndexIntervalBytes(1);
        journal = Journal.open(store, Path.of("data", "far-0"), config, Runnable::run);
        long near = 2_000_000_000L;
        long far = 2 * near;
        List<Long> all = new ArrayList<>(List.of(0L, near));
        appendAndWrite(run(batch(0, 1), batch(near, 1)));
        for (long offset = far; offset < far + 40; offset += 2) {
            appendAndWrite(run(batch(offset, 1)));
            all.add(offset);
        }
        List<Long> visited = new ArrayList<>();
        List<Long> found = new ArrayList<>();

        // when
        forEachBatch(journal, 0, header -> visited.add(RecordBatch.baseOffset(header, 0)));
        for (long offset : all) {
            found.add(findByTimestamp(journal, 1_000 + offset).offset());
        }

        // then
        assertThat(visited).isEqualTo(all);
        assertThat(found).isEqualTo(all);
    }

    /** As a start after a kill opens the copy of a log that is compacted. */
    private Journal reopen(RecoveryRules rules) throws IOException {
        return Journal.open(store, DIRECTORY, journal.config(), LEADER_EPOCH, rules, Runnable::run);
    }

    @Test
    void shouldKeepTheLastBatchBehindAGapWhenTheLeaderCompacts() throws IOException {
        appendAndWrite(run(batch(0, 1), batch(10, 1)));
        journal.flush();

        assertThat(readAll(reopen(new RecoveryRules(false, true)), 0)).containsExactly(0L, 10L);
    }

    @Test
    void shouldRemoveTheLastBatchBehindAGapWhenTheLogIsNotCompacted() throws IOException {
        appendAndWrite(run(batch(0, 1), batch(10, 1)));
        journal.flush();

        assertThat(readAll(reopen(new RecoveryRules(true, false)), 0)).containsExactly(0L);
    }

    @Test
    void shouldServeTheLastBatchOfASegmentBehindAGapWhenTheNextOneIsNotSynced() throws IOException {
        // given a full segment that ends behind a gap, and another one, while nothing is flushed
        JournalConfig config =
                journal.config().withSegmentSizeBytes(2 * batch(0, 1).readableBytes());
        journal = Journal.open(store, DIRECTORY, config, work -> {});
        appendAndWrite(run(batch(0, 1), batch(10, 1), batch(12, 1)));
        assertThat(journal.segmentCount()).isEqualTo(2);

        // when
        journal = reopen(new RecoveryRules(false, true));

        // then
        assertThat(readAll(journal, 0)).containsExactly(0L, 10L, 12L);
    }
}
