package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.read.PartitionRead;
import io.journalq.server.shard.read.PartitionReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Transactions in the files of one partition. */
class TransactionLogTest {
    private static final short EPOCH = 0;
    private static final int ALL = 1 << 20;

    /** Small enough that a few batches fill a segment. */
    private static final JournalConfig SMALL_SEGMENTS = JournalConfig.DEFAULT.withSegmentSizeBytes(400);

    @TempDir
    Path directory;

    @Test
    void shouldShowRecordsOnlyOnceTheirTransactionHasCommitted() throws IOException {
        // given interleaved: a transaction that commits, one that aborts, one that stays open, and records without one
        SteppedPartition partition = SteppedPartition.open(directory, JournalConfig.DEFAULT);
        partition.append(1, EPOCH, 0, true, "a1", "a2");
        partition.append(2, EPOCH, 0, true, "b1");
        partition.append(4, EPOCH, 0, false, "d1");
        partition.append(1, EPOCH, 2, true, "a3");
        assertThat(partition.readCommitted(0, ALL)).isEmpty();
        assertThat(partition.host().log().lastStableOffset()).isZero();
        assertThat(partition.host().log().highWatermark()).isEqualTo(5);

        // when
        partition.mark(1, EPOCH, true);
        assertThat(partition.host().log().lastStableOffset()).isEqualTo(2);
        partition.append(3, EPOCH, 0, true, "c1");
        partition.mark(2, EPOCH, false);
        partition.append(4, EPOCH, 1, false, "d2");

        // then
        assertThat(partition.host().log().lastStableOffset()).isEqualTo(6);
        assertThat(partition.readCommitted(0, ALL)).containsExactly("a1", "a2", "d1", "a3");
        partition.mark(3, EPOCH, true);
        assertThat(partition.readCommitted(0, 1)).containsExactly("a1", "a2", "d1", "a3", "c1", "d2");
    }

    @ParameterizedTest
    @EnumSource(DeliveryMode.class)
    void shouldKnowEverythingAgainAfterARestart(DeliveryMode mode) throws IOException {
        // given transactions over several segments: aborted, committed, open
        SteppedPartition partition = SteppedPartition.open(directory, SMALL_SEGMENTS, mode);
        for (int i = 0; i < 10; i++) {
            partition.append(1, EPOCH, i, true, "kept " + i);
            partition.append(2, EPOCH, i, true, "dropped " + i);
            partition.mark(2, EPOCH, false);
            partition.mark(1, EPOCH, true);
        }
        partition.append(3, EPOCH, 0, true, "open");
        List<String> visible = partition.readCommitted(0, ALL);
        assertThat(visible).hasSize(10).allMatch(value -> value.startsWith("kept"));
        long stableOffset = partition.host().log().lastStableOffset();
        assertThat(stableOffset).isEqualTo(40);

        // when it is stopped, then killed, then all derived state is lost, damaged or older than the log
        partition.closeCleanly();
        assertSame(visible, stableOffset);
        assertSame(visible, stableOffset);
        delete(".snapshot");
        partition = assertSame(visible, stableOffset);
        partition.closeCleanly();
        damage(".txnindex");
        partition = assertSame(visible, stableOffset);
        partition.closeCleanly();
        delete(".txnindex");
        partition = assertSame(visible, stableOffset);

        // then it continues
        assertThat(partition.mark(3, EPOCH, true).error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.readCommitted(40, ALL)).containsExactly("open");
        assertThat(partition.append(1, EPOCH, 9, true, "kept 9").offset()).isEqualTo(36);
        partition.closeCleanly();
    }

    private SteppedPartition assertSame(List<String> visible, long stableOffset) throws IOException {
        SteppedPartition opened = SteppedPartition.open(directory, SMALL_SEGMENTS);
        assertThat(opened.host().log().lastStableOffset()).isEqualTo(stableOffset);
        assertThat(opened.readCommitted(0, ALL)).isEqualTo(visible);
        assertThat(opened.readCommitted(0, 1)).isEqualTo(visible);
        return opened;
    }

    @Test
    void shouldRecoverWhateverIsLeftOfTwoInterleavedTransactions() throws IOException {
        // given the log of a killed broker, in which one transaction commits and one aborts, twice
        Path whole = directory.resolve("whole");
        SteppedPartition partition = SteppedPartition.open(whole, JournalConfig.DEFAULT);
        List<Long> stableOffsets = new ArrayList<>();
        List<List<String>> visible = new ArrayList<>();
        note(partition, stableOffsets, visible);
        for (int i = 0; i < 2; i++) {
            partition.append(1, EPOCH, 2 * i, true, "a" + i);
            note(partition, stableOffsets, visible);
            partition.append(2, EPOCH, i, true, "b" + i);
            note(partition, stableOffsets, visible);
            partition.append(1, EPOCH, 2 * i + 1, true, "A" + i);
            note(partition, stableOffsets, visible);
            partition.mark(2, EPOCH, false);
            note(partition, stableOffsets, visible);
            partition.mark(1, EPOCH, true);
            note(partition, stableOffsets, visible);
        }
        byte[] log = Files.readAllBytes(logFile(whole));
        ByteBuf bytes = Unpooled.wrappedBuffer(log);

        for (int size = 0; size <= log.length; size++) {
            // when only its first bytes reached the disk
            Path cut = directory.resolve("cut-" + size);
            Files.createDirectories(SteppedPartition.directory(cut));
            Files.write(
                    SteppedPartition.directory(cut).resolve(logFile(whole).getFileName()), Arrays.copyOf(log, size));
            SteppedPartition opened = SteppedPartition.open(cut, JournalConfig.DEFAULT);

            // then it is as it was after the last whole batch
            int batches = wholeBatches(bytes, size);
            assertThat(opened.host().log().highWatermark()).isEqualTo(batches);
            assertThat(opened.host().log().lastStableOffset())
                    .as("cut at %d", size)
                    .isEqualTo(stableOffsets.get(batches));
            assertThat(opened.readCommitted(0, ALL)).isEqualTo(visible.get(batches));
            opened.host().deleteJournal();
        }
    }

    private static void note(SteppedPartition partition, List<Long> stableOffsets, List<List<String>> visible)
            throws IOException {
        stableOffsets.add(partition.host().log().lastStableOffset());
        visible.add(partition.readCommitted(0, ALL));
    }

    private static int wholeBatches(ByteBuf log, int sizeBytes) {
        int count = 0;
        int at = 0;
        while (at + RecordBatch.HEADER_SIZE_BYTES <= sizeBytes && at + RecordBatch.sizeBytes(log, at) <= sizeBytes) {
            at += RecordBatch.sizeBytes(log, at);
            count++;
        }
        return count;
    }

    @Test
    void shouldTakeTheIndexAlongWhenOldRecordsAreDeleted() throws IOException {
        // given many aborted transactions over many segments, and an open one among the oldest
        SteppedPartition partition = SteppedPartition.open(directory, SMALL_SEGMENTS);
        partition.append(9, EPOCH, 0, true, "open");
        for (int i = 0; i < 20; i++) {
            partition.append(2, EPOCH, i, true, "dropped " + i);
            partition.mark(2, EPOCH, false);
        }
        long files = count(".txnindex");
        assertThat(files).isGreaterThan(5);

        // when most of them are deleted, including the first record of the open transaction
        assertThat(partition.deleteRecordsBefore(35)).isEqualTo(ErrorCode.NONE);

        // then nothing behind the new start is stable, and index files are deleted with their segments
        assertThat(partition.host().log().lastStableOffset()).isEqualTo(35);
        assertThat(count(".txnindex")).isLessThan(files - 3);
        partition.mark(9, EPOCH, true);
        partition.append(1, EPOCH, 0, false, "seen");
        assertThat(partition.readCommitted(35, ALL)).containsExactly("seen");

        // and a restart finds the same transactions
        SteppedPartition opened = SteppedPartition.open(directory, SMALL_SEGMENTS);
        assertThat(opened.readCommitted(35, ALL)).containsExactly("seen");
        opened.closeCleanly();
        assertThat(SteppedPartition.open(directory, SMALL_SEGMENTS).readCommitted(35, 1))
                .containsExactly("seen");
    }

    @Test
    void shouldTellReadersOnlyOfTheTransactionsInWhatTheyRead() throws IOException {
        // given aborted transactions of different producers in sequence
        SteppedPartition partition = SteppedPartition.open(directory, SMALL_SEGMENTS);
        for (int producer = 0; producer < 20; producer++) {
            partition.append(producer, EPOCH, 0, true, "dropped");
            partition.mark(producer, EPOCH, false);
        }
        // when
        PartitionRead read = partition.host().read(8, -1, -1, 1, true, true);
        JournalSlice loaded = read.slice().load();
        List<AbortedTransaction> aborted = read.aborted().find(loaded.offsetLimit());
        loaded.release();

        // then
        assertThat(aborted).extracting(AbortedTransaction::producerId).containsExactly(4L);
    }

    @Test
    void shouldWakeReadersOfCommittedRecordsWhenTheLastStableOffsetMoves() throws IOException {
        // given two readers at the end, one of them read-committed
        SteppedPartition partition = SteppedPartition.open(directory, JournalConfig.DEFAULT);
        Reader committed = new Reader(true);
        Reader all = new Reader(false);
        arm(partition, committed, all);

        // when a transaction writes, only the other one has news
        partition.append(1, EPOCH, 0, true, "a");
        assertThat(committed.news).isZero();
        assertThat(all.news).isEqualTo(1);
        arm(partition, committed, all);
        partition.append(2, EPOCH, 0, false, "b");
        assertThat(committed.news).isZero();
        assertThat(all.news).isEqualTo(2);

        // then both have news when it ends
        arm(partition, committed, all);
        partition.mark(1, EPOCH, true);
        assertThat(committed.news).isEqualTo(1);
        assertThat(all.news).isEqualTo(3);

        // and without transactions both know how much there is
        partition.host().log().markRead(committed);
        partition.host().log().markRead(all);
        arm(partition, committed, all);
        partition.append(2, EPOCH, 1, false, "b");
        assertThat(committed.grownBytes).isPositive().isEqualTo(all.grownBytes);
    }

    private static void arm(SteppedPartition partition, Reader... readers) {
        for (Reader reader : readers) {
            partition.host().log().markRead(reader);
            partition.host().log().park(reader);
        }
    }

    @Test
    void shouldTakeNothingOfAnOpenTransactionBackWhenItsEndIsNotOnTheDisk() throws IOException {
        // given a partition that waits for the disk
        SteppedPartition partition = SteppedPartition.open(directory, JournalConfig.DEFAULT, DeliveryMode.CONSISTENT);
        partition.append(1, EPOCH, 0, true, "a");

        // when the marker is staged
        SteppedPartition.Outcome end = partition.stageMarker(1, EPOCH, true);

        // then no reader sees it
        assertThat(end.error()).isNull();
        assertThat(partition.host().log().lastStableOffset()).isZero();
        partition.loop().run();
        assertThat(end.error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.host().log().lastStableOffset()).isEqualTo(2);
    }

    @Test
    void shouldRejectALateBatchWhenItsTransactionHasEndedSinceItsVerification() throws IOException {
        // given two batches of a transaction that its coordinator has confirmed
        SteppedPartition partition = SteppedPartition.open(directory, JournalConfig.DEFAULT);
        long guard = partition.guard();
        partition.appendVerified(guard, 1, EPOCH, 0, "first");

        // when the transaction is aborted before the second batch arrives
        partition.mark(1, EPOCH, false);
        SteppedPartition.Outcome late = partition.appendVerified(guard, 1, EPOCH, 1, "late");

        // then the batch does not begin a transaction without an end
        assertThat(late.error()).isEqualTo(ErrorCode.INVALID_TXN_STATE);
        assertThat(partition.host().log().lastStableOffset())
                .isEqualTo(partition.host().log().highWatermark())
                .isEqualTo(2);

        // and the producer's next transaction begins
        assertThat(partition.append(1, EPOCH, 1, true, "next").error()).isEqualTo(ErrorCode.NONE);
        partition.mark(1, EPOCH, true);
        assertThat(partition.readCommitted(0, 1_000)).containsExactly("next");
    }

    @Test
    void shouldRejectALateBatchWhenTheMarkerThatEndedItsTransactionWasAlreadyThere() throws IOException {
        // given a transaction that was aborted, and a second one that has written nothing
        SteppedPartition partition = SteppedPartition.open(directory, JournalConfig.DEFAULT);
        partition.append(1, EPOCH, 0, true, "first");
        SteppedPartition.Outcome marker = partition.mark(1, EPOCH, false);
        long guard = partition.guard();

        // when that is aborted, too, by a marker that changes nothing, before its first batch arrives
        assertThat(partition.mark(1, EPOCH, false).offset()).isEqualTo(marker.offset());
        SteppedPartition.Outcome late = partition.appendVerified(guard, 1, EPOCH, 1, "late");

        // then
        assertThat(late.error()).isEqualTo(ErrorCode.INVALID_TXN_STATE);
        assertThat(partition.host().log().lastStableOffset()).isEqualTo(2);
    }

    @Test
    void shouldAcceptABatchWhenOnlyOtherProducersEndedTransactionsSinceItsVerification() throws IOException {
        SteppedPartition partition = SteppedPartition.open(directory, JournalConfig.DEFAULT);
        partition.append(2, EPOCH, 0, true, "other");
        long guard = partition.guard();

        partition.mark(2, EPOCH, true);

        assertThat(partition.appendVerified(guard, 1, EPOCH, 0, "mine").error()).isEqualTo(ErrorCode.NONE);
    }

    private Path logFile(Path of) throws IOException {
        return files(of, ".log").get(0);
    }

    private void delete(String suffix) throws IOException {
        for (Path file : files(directory, suffix)) {
            Files.delete(file);
        }
    }

    private void damage(String suffix) throws IOException {
        Path file = files(directory, suffix).get(0);
        byte[] content = Files.readAllBytes(file);
        content[content.length - 1] ^= 1;
        Files.write(file, content);
    }

    private long count(String suffix) throws IOException {
        return files(directory, suffix).size();
    }

    private static List<Path> files(Path of, String suffix) throws IOException {
        try (Stream<Path> files = Files.list(SteppedPartition.directory(of))) {
            return files.filter(file -> file.toString().endsWith(suffix))
                    .sorted()
                    .toList();
        }
    }

    /** Counts its news. */
    private static final class Reader extends PartitionReader {
        private final boolean committed;
        private int news;
        private long grownBytes;

        Reader(boolean committed) {
            this.committed = committed;
        }

        @Override
        protected void onNews(long grown) {
            news++;
            grownBytes = grown;
        }

        @Override
        protected boolean readsCommitted() {
            return committed;
        }
    }
}
