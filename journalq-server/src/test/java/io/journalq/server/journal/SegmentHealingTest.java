package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.compaction.CompactionJob.Step;
import io.journalq.server.journal.compaction.SegmentHealing.Source;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.read.RangeCheck;
import io.journalq.server.journal.read.RangeCheck.CheckedRange;
import io.journalq.server.journal.read.RangeCheck.Range;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Heals the second of three segments with the batches of a replica that is not damaged. */
class SegmentHealingTest {
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
    private CheckedRange whole;

    @BeforeEach
    void write() throws IOException {
        try (Journal journal = open()) {
            append(journal, BATCHES, 1, 60);
        }
        healthy = store.read(DAMAGED, ALL);
        batchBytes = healthy.length / BATCHES_EACH;
        try (Journal journal = open()) {
            whole = check(journal);
        }
    }

    private static boolean own(Step step) throws IOException {
        return step.run();
    }

    private Journal open() throws IOException {
        return Journal.open(store, DIRECTORY, CONFIG, Runnable::run);
    }

    private static CheckedRange check(Journal journal) throws IOException {
        try (RangeCheck check = journal.rangeCheck()) {
            return check.run(new Range(0, BATCHES, ALL, journal.rewrites().mayHaveGaps()), null);
        }
    }

    private void damage(byte[] content) throws IOException {
        store.replace(DAMAGED, ByteBuffer.wrap(content), false);
    }

    private byte[] flipped(int at) {
        byte[] content = healthy.clone();
        content[at] ^= 0x10;
        return content;
    }

    /** Responds with at most two batches at a time. */
    private Source source(byte[] segment) {
        return (offset, endOffset) -> {
            int from = (int) (offset - BATCHES_EACH) * batchBytes;
            return Unpooled.copiedBuffer(segment, from, Math.min(2 * batchBytes, segment.length - from));
        };
    }

    @Test
    void shouldHaveTheBatchesOfTheOtherReplicaWhenAnyByteWasDamaged() throws IOException {
        for (int at = 0; at < healthy.length; at += 7) {
            damage(flipped(at));
            try (Journal journal = open()) {
                if (!check(journal).isDamaged()) {
                    continue; // A leader epoch, which no CRC covers.
                }
                assertThat(journal.rewrites()
                                .heal(BATCHES_EACH + at / batchBytes, source(healthy), SegmentHealingTest::own))
                        .as("byte %d", at)
                        .isTrue();

                assertThat(check(journal)).as("byte %d", at).isEqualTo(whole);
                assertThat(TestJournals.readAll(journal, 0)).hasSize(BATCHES);
            }
            assertThat(store.read(DAMAGED, ALL)).as("byte %d", at).isEqualTo(healthy);
            try (Journal journal = open()) {
                assertThat(check(journal)).as("byte %d, opened again", at).isEqualTo(whole);
            }
        }
    }

    @Test
    void shouldHealTheSegmentWhenItsFileIsTruncated() throws IOException {
        try (Journal journal = open()) {
            damage(Arrays.copyOf(healthy, batchBytes + 3));
            assertThat(check(journal).isDamaged()).isTrue();

            assertThat(journal.rewrites().heal(BATCHES_EACH + 1, source(healthy), SegmentHealingTest::own))
                    .isTrue();

            assertThat(check(journal)).isEqualTo(whole);
        }
        assertThat(store.read(DAMAGED, ALL)).isEqualTo(healthy);
    }

    @Test
    void shouldKeepTheSegmentWhenTheOtherReplicaIsNoBetter() throws IOException {
        byte[] damaged = flipped(batchBytes + RecordBatch.HEADER_SIZE_BYTES);
        damage(damaged);
        byte[] otherEpoch = healthy.clone();
        otherEpoch[RecordBatch.LEADER_EPOCH + 3] ^= 2;
        byte[] otherBatch = healthy.clone();
        System.arraycopy(healthy, batchBytes, otherBatch, 2 * batchBytes, batchBytes);
        otherBatch[2 * batchBytes + RecordBatch.BASE_OFFSET + 7] = BATCHES_EACH + 2;
        Map<String, Source> sources = Map.of(
                "damaged batch for offset 5", source(damaged),
                "another leader epoch at offset 4", source(otherEpoch),
                "undamaged batches from offset 6 on differ", source(otherBatch),
                "no batch for offset 4", (offset, endOffset) -> Unpooled.EMPTY_BUFFER);
        try (Journal journal = open()) {
            sources.forEach((reason, source) -> assertThatThrownBy(
                            () -> journal.rewrites().heal(5, source, SegmentHealingTest::own))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(reason));
            assertThat(store.read(DAMAGED, ALL)).isEqualTo(damaged);
            assertThat(store.list(DIRECTORY)).noneMatch(name -> name.endsWith(".cleaned"));
            assertThat(journal.rewrites().heal(5, source(healthy), SegmentHealingTest::own))
                    .isTrue();
        }
    }

    @Test
    void shouldHealNothingWhenTheSegmentIsNotClosedOrTheJournalIs() throws IOException {
        try (Journal journal = open()) {
            assertThatThrownBy(() -> journal.rewrites().heal(BATCHES - 1, source(healthy), SegmentHealingTest::own))
                    .hasMessageContaining("not closed and durable yet");
            assertThat(journal.rewrites().heal(BATCHES_EACH, source(healthy), step -> false))
                    .isFalse();
            assertThat(store.list(DIRECTORY)).noneMatch(name -> name.endsWith(".cleaned"));
        }
    }
}
