package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.readAll;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.ShutdownMarker.LastEnd;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.segment.RecoveryRules;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Damage in the newest segment of a replica that has copied a compacted log in mode {@code consistent}: its offsets
 * have gaps, and it can lead next.
 */
class DamagedCopyTest {
    private static final Path DATA = Path.of("data");
    private static final Path DIRECTORY = DATA.resolve("topic-0");
    private static final Path LOG = DIRECTORY.resolve("00000000000000000000.log");
    private static final int EPOCH = 5;
    private static final RecoveryRules COPY = new RecoveryRules(false, true);
    private static final int VALUE_BYTES = 50;

    private final MemoryFileStore store = new MemoryFileStore();

    /** A batch of two records. */
    private static ByteBuf batch(long baseOffset, int fill) {
        ByteBuf batch = TestBatches.batch(new long[] {1_000, 1_001}, VALUE_BYTES, (byte) fill);
        RecordBatch.setBaseOffset(batch, 0, baseOffset);
        RecordBatch.setLeaderEpoch(batch, 0, EPOCH);
        return batch;
    }

    private static int batchBytes() {
        return batch(0, 'v').readableBytes();
    }

    /** The contents of a log with batches at these offsets, which no checkpoint covers. */
    private byte[] written(int fill, long... baseOffsets) throws IOException {
        Journal journal = Journal.open(store, DIRECTORY, JournalConfig.DEFAULT, EPOCH, COPY, work -> {});
        for (long baseOffset : baseOffsets) {
            ByteBuf run = batch(baseOffset, fill);
            journal.appendRun(run, EPOCH);
            run.release();
        }
        journal.write();
        return store.read(LOG, Integer.MAX_VALUE);
    }

    private List<Long> found(byte[] content) throws IOException {
        if (store.list(DIRECTORY).contains(JournalCheckpoint.FILE_NAME)) {
            store.delete(DIRECTORY.resolve(JournalCheckpoint.FILE_NAME));
        }
        store.replace(LOG, ByteBuffer.wrap(content), false);
        return readAll(Journal.open(store, DIRECTORY, JournalConfig.DEFAULT, EPOCH, COPY, work -> {}), 0);
    }

    private void processIsKilled() throws IOException {
        ShutdownMarker.writeRunning(store, DATA, LastEnd.CLEAN, true);
    }

    private static byte[] flipped(byte[] content, int at, int bit) {
        byte[] flipped = content.clone();
        flipped[at] ^= (byte) (1 << bit);
        return flipped;
    }

    /** Writes a batch into the value of another one. */
    private static void embed(byte[] content, int at, ByteBuf batch) {
        byte[] bytes = ByteBufUtil.getBytes(batch);
        System.arraycopy(bytes, 0, content, at, bytes.length);
    }

    /** A log of one batch, and another one with a value that the tests write a batch into. */
    private byte[] writtenBeforeALargeOne(long baseOffset) throws IOException {
        byte[] small = written('v', 0);
        ByteBuf large = TestBatches.batch(1, 1_000, 1_000);
        RecordBatch.setBaseOffset(large, 0, baseOffset);
        RecordBatch.setLeaderEpoch(large, 0, EPOCH);
        return ByteBufUtil.getBytes(Unpooled.wrappedBuffer(Unpooled.wrappedBuffer(small), large));
    }

    @Test
    void shouldKeepWhatIsBehindADamagedLengthWhenThereAreGaps() throws IOException {
        processIsKilled();
        for (long[] offsets : new long[][] {{0, 1_000, 1_002, 1_004}, {0, 2, 1_002, 1_004}, {0, 500, 9_000, 9_900}}) {
            byte[] whole = written('v', offsets);
            for (int bit = 0; bit < Integer.SIZE; bit++) {
                int at = batchBytes() + RecordBatch.LENGTH + bit / Byte.SIZE;

                assertThat(found(flipped(whole, at, bit % Byte.SIZE)))
                        .as("%s, bit %d", Arrays.toString(offsets), bit)
                        .containsExactly(offsets[0], offsets[2], offsets[3]);
            }
            store.delete(DIRECTORY);
        }
    }

    @Test
    void shouldKeepWhatIsBehindTwoDamagedBatchesWhenThereAreGaps() throws IOException {
        processIsKilled();
        byte[] whole = written('v', 0, 1_000, 2_000, 3_000, 4_000);

        byte[] damaged = flipped(whole, batchBytes() + 70, 1);
        damaged = flipped(damaged, 2 * batchBytes() + 70, 1);

        assertThat(found(damaged)).containsExactly(0L, 3_000L, 4_000L);
    }

    @Test
    void shouldKeepWhatIsBehindAFlippedBitAfterAPowerLossWhenItLooksTorn() throws IOException {
        // given values that end with more zeros than a batch usually does
        byte[] whole = written(0, 0, 1_000, 1_002);

        for (int at = batchBytes() + RecordBatch.MAGIC; at < 2 * batchBytes(); at++) {
            assertThat(found(flipped(whole, at, 1))).as("byte %d", at).containsExactly(0L, 1_002L);
        }
    }

    @Test
    void shouldKeepWhatIsBehindAFlippedBitInAnOffsetAfterAPowerLossWhenItLooksTorn() throws IOException {
        // given an offset that is less than the one before it if some of its bits are flipped
        written(0, 0);
        ByteBuf first = TestBatches.batch(990, 1, 1_000);
        RecordBatch.setLeaderEpoch(first, 0, EPOCH);
        byte[] whole = ByteBufUtil.getBytes(Unpooled.wrappedBuffer(first, batch(1_000, 0), batch(1_002, 0)));

        for (int bit = 0; bit < Long.SIZE; bit++) {
            int at = first.readableBytes() + RecordBatch.BASE_OFFSET + bit / Byte.SIZE;

            assertThat(found(flipped(whole, at, bit % Byte.SIZE)))
                    .as("byte %d, bit %d", bit / Byte.SIZE, bit % Byte.SIZE)
                    .contains(0L, 1_002L);
        }
    }

    @Test
    void shouldEndAtABatchWithoutItsFirstBytesAfterAPowerLoss() throws IOException {
        byte[] torn = written('v', 0, 994, 1_000, 1_002);
        Arrays.fill(torn, 2 * batchBytes(), 2 * batchBytes() + Long.BYTES, (byte) 0);

        assertThat(found(torn)).containsExactly(0L, 994L);
    }

    @Test
    void shouldKeepTheFirstBatchWhenTheFirstBytesOfTheNextOneAreMissing() throws IOException {
        byte[] torn = written('v', 994, 1_000, 1_002);
        Arrays.fill(torn, batchBytes(), batchBytes() + Long.BYTES, (byte) 0);

        assertThat(found(torn)).containsExactly(994L);
    }

    @Test
    void shouldNotServeTheValueOfATornBatchWhenItLiesBehindAGap() throws IOException {
        processIsKilled();
        for (long embedded : new long[] {100, 1_100}) {
            byte[] torn = writtenBeforeALargeOne(1_000);
            embed(torn, batchBytes() + 200, batch(embedded, 'v'));

            assertThat(found(Arrays.copyOf(torn, torn.length - 100)))
                    .as("offset %d", embedded)
                    .containsExactly(0L);
            store.delete(DIRECTORY);
        }
    }

    @Test
    void shouldNotServeTheValueOfADamagedBatchWhenItsOffsetIsFar() throws IOException {
        processIsKilled();
        for (long large : new long[] {2, 1_000}) {
            byte[] damaged = writtenBeforeALargeOne(large);
            embed(damaged, batchBytes() + 200, batch(5_000, 'v'));

            assertThat(found(damaged)).as("in the batch at %d", large).containsExactly(0L);
            store.delete(DIRECTORY);
        }
    }
}
