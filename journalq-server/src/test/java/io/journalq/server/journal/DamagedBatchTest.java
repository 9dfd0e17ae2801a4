package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static io.journalq.server.journal.TestJournals.readAll;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.ShutdownMarker.LastEnd;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Damage to batches that no checkpoint covers affects only the damaged batches. */
class DamagedBatchTest {
    private static final Path DATA = Path.of("data");
    private static final Path DIRECTORY = DATA.resolve("topic-0");
    private static final Path LOG = DIRECTORY.resolve("00000000000000000000.log");
    private static final String FIRST_BOOT = "6f1d1c0a-58b7-4e0e-9f0c-0c2f6a1f8e11";
    private static final String SECOND_BOOT = "b27a9e63-0d44-4f8b-8a35-d1c9e7d2047c";
    private static final int BATCHES = 200;
    private static final int DAMAGED = 6;
    private static final int VALUE_BYTES = 40;

    private final MemoryFileStore memory = new MemoryFileStore();
    private String bootId = FIRST_BOOT;
    private final FileStore store = new FilterFileStore(memory) {
        @Override
        public String bootId() {
            return bootId;
        }
    };

    private Journal open() throws IOException {
        return Journal.open(store, DIRECTORY, JournalConfig.DEFAULT, Runnable::run);
    }

    /** The log of a process that was killed before it wrote a checkpoint; all values are zeros. */
    private byte[] killed() throws IOException {
        Journal journal = open();
        for (int i = 0; i < BATCHES; i++) {
            ByteBuf batch = TestBatches.batch(new long[] {1_000 + i}, VALUE_BYTES, (byte) 0);
            journal.append(batch, 1);
            batch.release();
        }
        journal.write();
        assertThat(store.list(DIRECTORY)).containsExactly(LOG.getFileName().toString());
        return store.read(LOG, Integer.MAX_VALUE);
    }

    /** Marks every journal as recovered by a start of the broker, so that later data was written during this boot. */
    private void recoveredInThisBoot() throws IOException {
        ShutdownMarker.writeRunning(store, DATA, LastEnd.CLEAN, true);
    }

    private Journal restarted(byte[] log) throws IOException {
        for (String name : store.list(DIRECTORY)) {
            store.delete(DIRECTORY.resolve(name));
        }
        store.replace(LOG, ByteBuffer.wrap(log), false);
        return open();
    }

    private static List<Long> allBut(long... lost) {
        return LongStream.range(0, BATCHES)
                .filter(offset -> Arrays.stream(lost).noneMatch(one -> one == offset))
                .boxed()
                .toList();
    }

    @Test
    void shouldLoseOneBatchWhenAnyBitOfItIsFlippedThoughItEndsInZeros() throws IOException {
        byte[] whole = killed();
        int batchBytes = whole.length / BATCHES;
        for (int bit = 0; bit < batchBytes * Byte.SIZE; bit += 3) {
            byte[] flipped = whole.clone();
            flipped[DAMAGED * batchBytes + bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);

            Journal found = restarted(flipped);

            boolean inOffset = bit / Byte.SIZE < RecordBatch.LENGTH;
            boolean inEpoch = bit / Byte.SIZE >= RecordBatch.LEADER_EPOCH && bit / Byte.SIZE < RecordBatch.MAGIC;
            List<Long> expected = inOffset || inEpoch ? allBut() : allBut(DAMAGED);
            assertThat(readAll(found, 0)).as("bit %d", bit).isEqualTo(expected);
            assertThat(found.endOffset()).isEqualTo(BATCHES);
        }
    }

    @Test
    void shouldReportTheDamageToAVerifyBeforeAndAfterTheStart() throws IOException {
        byte[] damaged = killed();
        int batchBytes = damaged.length / BATCHES;
        damaged[DAMAGED * batchBytes + batchBytes / 2] ^= 4;
        store.replace(LOG, ByteBuffer.wrap(damaged), false);

        List<JournalFinding> before = JournalCheck.run(store, DIRECTORY).findings();
        Journal found = restarted(damaged);
        found.flush();
        found.checkpoint();
        List<JournalFinding> after = JournalCheck.run(store, DIRECTORY).findings();

        assertThat(before).singleElement().satisfies(finding -> {
            assertThat(finding.kind()).isEqualTo(JournalFinding.Kind.BAD_STRETCH);
            assertThat(finding.position()).isEqualTo((long) DAMAGED * batchBytes);
            assertThat(finding.endPosition()).isEqualTo((DAMAGED + 1L) * batchBytes);
        });
        assertThat(after).isEqualTo(before);
    }

    @Test
    void shouldKeepWhatFollowsZerosWhenTheProcessWasKilledAndEndBeforeThemWhenPowerWasLost() throws IOException {
        recoveredInThisBoot();
        byte[] whole = killed();
        int batchBytes = whole.length / BATCHES;
        // Its last 41 bytes are zeros anyway.
        for (int zeros = 45; zeros < batchBytes - RecordBatch.CRC; zeros++) {
            byte[] torn = whole.clone();
            int end = (DAMAGED + 1) * batchBytes;
            Arrays.fill(torn, end - zeros, end, (byte) 0);

            bootId = FIRST_BOOT;
            List<Long> afterKill = readAll(restarted(torn), 0);
            bootId = SECOND_BOOT;
            List<Long> afterPowerLoss = readAll(restarted(torn), 0);

            assertThat(afterKill).as("%d zeros", zeros).isEqualTo(allBut(DAMAGED));
            assertThat(afterPowerLoss).as("%d zeros", zeros).isEqualTo(allBut().subList(0, DAMAGED));
        }
    }

    @Test
    void shouldKeepWhatFollowsTwoDamagedBatches() throws IOException {
        byte[] damaged = killed();
        int batchBytes = damaged.length / BATCHES;
        damaged[DAMAGED * batchBytes + batchBytes / 2] ^= 4;
        damaged[(DAMAGED + 1) * batchBytes + batchBytes / 3] ^= 1;

        assertThat(readAll(restarted(damaged), 0)).isEqualTo(allBut(DAMAGED, DAMAGED + 1));
    }

    @Test
    void shouldCutABatchThatWasNotAllWrittenWhenItHoldsAnotherInItsValue() throws IOException {
        // given a batch whose value is a batch that would fit behind it
        recoveredInThisBoot();
        byte[] whole = killed();
        int batchBytes = whole.length / BATCHES;
        ByteBuf inner = Unpooled.copiedBuffer(whole, 0, batchBytes);
        RecordBatch.setBaseOffset(inner, 0, BATCHES + 1);
        byte[] torn = Arrays.copyOf(whole, whole.length + RecordBatch.HEADER_SIZE_BYTES + 8 + batchBytes);
        System.arraycopy(whole, 0, torn, whole.length, RecordBatch.HEADER_SIZE_BYTES);
        ByteBuf header = Unpooled.wrappedBuffer(torn);
        RecordBatch.setBaseOffset(header, whole.length, BATCHES);
        header.setInt(whole.length + RecordBatch.LENGTH, 4 * batchBytes);
        inner.getBytes(0, torn, torn.length - batchBytes, batchBytes);

        // when the process is killed while it writes that batch
        Journal found = restarted(torn);

        // then
        assertThat(found.endOffset()).isEqualTo(BATCHES);
        assertThat(readAll(found, 0)).isEqualTo(allBut());
    }

    @Test
    void shouldKeepTheNextSegmentWhenTheEndOfOneIsDamagedAndTheProcessWasKilled() throws IOException {
        // given segments that were never synced
        recoveredInThisBoot();
        JournalConfig config = JournalConfig.DEFAULT.withSegmentSizeBytes(400);
        List<Runnable> background = new ArrayList<>();
        append(Journal.open(store, DIRECTORY, config, background::add), 9, 1, 50);
        byte[] first = store.read(LOG, Integer.MAX_VALUE);
        first[first.length - 20] ^= 2;
        store.replace(LOG, ByteBuffer.wrap(first), false);

        // when
        Journal found = Journal.open(store, DIRECTORY, config, background::add);

        // then
        assertThat(readAll(found, 0)).containsExactly(0L, 1L, 3L, 4L, 5L, 6L, 7L, 8L);
    }

    @Test
    void shouldNotTrustAMarkOfThisBootWhenASyncHadFailed() throws IOException {
        recoveredInThisBoot();
        byte[] torn = killed();
        int batchBytes = torn.length / BATCHES;
        Arrays.fill(torn, DAMAGED * batchBytes + 30, (DAMAGED + 1) * batchBytes, (byte) 0);
        store.replace(LOG, ByteBuffer.wrap(torn), false);
        store.open(DIRECTORY.resolve(JournalFlusher.FENCE_FILE_NAME), true).close();

        assertThat(open().endOffset()).isEqualTo(DAMAGED);
    }
}
