package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.read.RangeCheck;
import io.journalq.server.journal.read.RangeCheck.CheckedRange;
import io.journalq.server.journal.read.RangeCheck.Range;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Checks ranges of a journal of three segments. The second one is damaged. */
class RangeCheckTest {
    private static final Path DIRECTORY = Path.of("data", "topic-0");
    private static final int BATCHES = 12;
    private static final int BATCHES_EACH = 4;
    private static final int ALL = Integer.MAX_VALUE;
    private static final Path DAMAGED = DIRECTORY.resolve(String.format("%020d.log", BATCHES_EACH));
    private static final JournalConfig CONFIG =
            JournalConfig.DEFAULT.withIndexIntervalBytes(150).withSegmentSizeBytes(600);

    private final MemoryFileStore store = new MemoryFileStore();
    private byte[] healthy;
    private int batchBytes;

    @BeforeEach
    void write() throws IOException {
        try (Journal journal = open()) {
            append(journal, BATCHES, 1, 60);
            assertThat(journal.segments()).hasSize(BATCHES / BATCHES_EACH);
        }
        healthy = store.read(DAMAGED, ALL);
        batchBytes = healthy.length / BATCHES_EACH;
    }

    private Journal open() throws IOException {
        return Journal.open(store, DIRECTORY, CONFIG, Runnable::run);
    }

    private void damage(byte[] content) throws IOException {
        store.replace(DAMAGED, ByteBuffer.wrap(content), false);
    }

    private CheckedRange check(long offset, long endOffset, int maxSizeBytes) throws IOException {
        try (Journal journal = open();
                RangeCheck check = journal.rangeCheck()) {
            return check.run(
                    new Range(
                            offset, endOffset, maxSizeBytes, journal.rewrites().mayHaveGaps()),
                    null);
        }
    }

    @Test
    void shouldReadTheBatchesOfTheRangeWhenNothingIsDamaged() throws IOException {
        CheckedRange all = check(0, BATCHES, ALL);
        assertThat(all.endOffset()).isEqualTo(BATCHES);
        assertThat(all.isDamaged()).isFalse();
        assertThat(all.batches()).isEqualTo(BATCHES);

        CheckedRange limited = check(3, BATCHES, 2 * batchBytes + 1);
        assertThat(limited.endOffset()).isEqualTo(5);
        assertThat(limited).isEqualTo(check(3, 5, ALL));
        assertThat(check(3, BATCHES, 0).batches()).as("at least one batch").isEqualTo(1);

        ByteBuf copy = Unpooled.buffer();
        try (Journal journal = open();
                RangeCheck check = journal.rangeCheck()) {
            check.run(new Range(4, 8, ALL, false), copy);
        }
        assertThat(copy).isEqualTo(Unpooled.wrappedBuffer(healthy));
    }

    @Test
    void shouldReportExactlyTheDamagedBatchWhenAByteIsChanged() throws IOException {
        int checksum = check(BATCHES_EACH, 2 * BATCHES_EACH, ALL).checksum();
        for (int at = 0; at < healthy.length; at++) {
            byte[] content = healthy.clone();
            content[at] ^= 0x10;
            damage(content);
            int batch = BATCHES_EACH + at / batchBytes;
            int inBatch = at % batchBytes;

            CheckedRange before = check(0, BATCHES, ALL);
            if (inBatch >= RecordBatch.LEADER_EPOCH && inBatch < RecordBatch.MAGIC) {
                // No CRC covers the leader epoch, but the checksum does.
                assertThat(before.isDamaged()).isFalse();
                assertThat(check(BATCHES_EACH, 2 * BATCHES_EACH, ALL).checksum())
                        .as("byte %d", at)
                        .isNotEqualTo(checksum);
                continue;
            }
            assertThat(before.endOffset()).as("byte %d", at).isEqualTo(batch);
            assertThat(before.damagedUntil()).as("byte %d", at).isEqualTo(batch + 1);
            assertThat(check(batch, BATCHES, ALL).batches()).isZero();
            CheckedRange behind = check(batch + 1, BATCHES, ALL);
            assertThat(behind.isDamaged()).as("byte %d", at).isFalse();
            assertThat(behind.batches()).as("byte %d", at).isEqualTo(BATCHES - batch - 1);
        }
    }

    @Test
    void shouldReportTheRestOfTheSegmentWhenItsFileIsTruncated() throws IOException {
        damage(Arrays.copyOf(healthy, 2 * batchBytes + 10));

        CheckedRange checked = check(0, BATCHES, ALL);

        assertThat(checked.endOffset()).isEqualTo(BATCHES_EACH + 2);
        assertThat(checked.damagedUntil()).isEqualTo(2 * BATCHES_EACH);
    }
}
