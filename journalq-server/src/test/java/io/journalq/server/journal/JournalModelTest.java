package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.findByTimestamp;
import static io.journalq.server.journal.TestJournals.forEachBatch;
import static io.journalq.server.journal.TestJournals.maxTimestamp;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.read.JournalSearch.TimestampOffset;
import io.journalq.server.journal.segment.LeaderEpochs.EpochEndOffset;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random appends, reads, truncations, deletions, crashes and restarts. After every step the journal must have the same
 * content as a plain list. Replay a failure by its seed, which is the test's argument.
 */
class JournalModelTest {
    private static final Path DIRECTORY = Path.of("data", "topic-0");
    private static final int STEPS = 400;

    /** One record of the model. */
    private record Entry(long offset, long batchOffset, long timestampMs, int epoch) {}

    private final MemoryFileStore store = new MemoryFileStore();
    private final List<Entry> model = new ArrayList<>();
    private Random random;
    private JournalConfig config;
    private Journal journal;
    private int epoch;
    /** The newest epoch that a leader began here; -1 if the journal was opened or truncated since then. */
    private int begunEpoch = -1;

    private long startOffset;
    private long clockMs = 1_000_000;

    static LongStream seeds() {
        return LongStream.rangeClosed(1, Long.getLong("journal.model.seeds", 12));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldHoldWhatTheModelHoldsWhenSeeded(long seed) throws IOException {
        random = new Random(seed);
        config = JournalConfig.DEFAULT
                .withSegmentSizeBytes(1_000 + random.nextInt(20_000))
                .withIndexIntervalBytes(1 + random.nextInt(1_000))
                .withWarmSizeBytes(random.nextInt(5_000))
                .withCheckpointIntervalBytes(1 + random.nextInt(10_000));
        reopen();
        for (int step = 0; step < STEPS; step++) {
            step();
            checkOneRead();
            if (step % 20 == 0) {
                checkAll();
            }
        }
        checkAll();
    }

    private void step() throws IOException {
        switch (random.nextInt(20)) {
            case 0 -> {
                journal.close();
                reopen();
            }
            case 1 -> reopen(); // As after a kill: written data is in the files.
            case 2 -> beginEpoch();
            case 3 -> truncate();
            case 4 -> deleteRecords();
            case 5 -> retain();
            case 6 -> assertThat(journal.flush()).isEqualTo(journal.writtenOffset());
            case 7 -> journal.releaseIdleFiles();
            case 8 -> reset();
            default -> append();
        }
    }

    private void reopen() throws IOException {
        long durableStart = journal == null ? 0 : journal.startOffset();
        journal = Journal.open(store, DIRECTORY, config, Runnable::run);
        begunEpoch = -1;
        assertThat(journal.startOffset()).isEqualTo(durableStart);
    }

    private void beginEpoch() {
        epoch += random.nextInt(3);
        if (random.nextBoolean()) {
            journal.beginEpoch(epoch);
            begunEpoch = epoch;
        }
    }

    private void append() throws IOException {
        int batches = 1 + random.nextInt(8);
        long offset = journal.endOffset();
        for (int i = 0; i < batches; i++) {
            long[] timestamps = new long[1 + random.nextInt(5)];
            for (int j = 0; j < timestamps.length; j++) {
                timestamps[j] = clockMs + random.nextInt(100) - 50;
                clockMs += random.nextInt(10);
            }
            ByteBuf batch = TestBatches.batch(timestamps, random.nextInt(400), (byte) random.nextInt());
            long base = journal.append(batch, epoch);
            batch.release();
            assertThat(base).isEqualTo(offset);
            for (long timestampMs : timestamps) {
                model.add(new Entry(offset++, base, timestampMs, epoch));
            }
        }
        journal.write();
        assertThat(journal.writtenOffset()).isEqualTo(offset);
    }

    private void truncate() throws IOException {
        if (random.nextInt(4) > 0 || model.isEmpty()) {
            return;
        }
        long offset = startOffset + random.nextInt((int) (journal.endOffset() - startOffset) + 1);
        long end = journal.truncateTo(offset);
        begunEpoch = -1;
        assertThat(end).isLessThanOrEqualTo(offset);
        model.removeIf(entry -> entry.offset >= offset || entry.offset >= end);
        assertThat(model.isEmpty() ? end : model.get(model.size() - 1).offset + 1)
                .isEqualTo(end);
        startOffset = journal.startOffset();
    }

    private void reset() throws IOException {
        if (random.nextInt(5) == 0) {
            startOffset = journal.endOffset() + 1 + random.nextInt(1_000);
            journal.resetTo(startOffset);
            begunEpoch = -1;
            model.clear();
            assertThat(journal.endOffset()).isEqualTo(startOffset);
            assertThat(journal.epochs().count()).isZero();
        }
    }

    private void deleteRecords() {
        if (random.nextInt(3) == 0) {
            long offset = startOffset + random.nextInt((int) (journal.endOffset() - startOffset) / 2 + 1);
            journal.deleteRecordsBefore(offset);
            startOffset = Math.max(startOffset, offset);
            assertThat(journal.startOffset()).isEqualTo(startOffset);
        }
    }

    private void retain() {
        config = config.withRetention(2_000 + random.nextInt(5_000), 50_000);
        journal.setConfig(config);
        long committed = startOffset + random.nextInt((int) (journal.endOffset() - startOffset) + 1);
        journal.applyRetention(clockMs, committed);
        assertThat(journal.startOffset()).isLessThanOrEqualTo(committed);
        startOffset = journal.startOffset();
    }

    private void checkOneRead() throws IOException {
        if (journal.startOffset() == journal.writtenOffset()) {
            return;
        }
        long offset = startOffset + random.nextInt((int) (journal.endOffset() - startOffset));
        Entry first = find(offset);
        int maxSizeBytes = random.nextInt(3_000);
        boolean atLeastOne = random.nextBoolean();
        List<Long> boundaries = model.stream()
                .filter(entry -> entry.offset == entry.batchOffset)
                .map(Entry::batchOffset)
                .toList();
        long end = random.nextBoolean() ? Long.MAX_VALUE : boundaries.get(random.nextInt(boundaries.size()));
        ByteBuf bytes = journal.read(offset, end, maxSizeBytes, atLeastOne).readFully(UnpooledByteBufAllocator.DEFAULT);
        if (offset >= end) {
            assertThat(bytes.isReadable()).isFalse();
            return;
        }
        if (atLeastOne) {
            assertThat(bytes.isReadable()).isTrue();
        }
        int batches = 0;
        long next = first.batchOffset;
        for (int at = 0; at < bytes.readableBytes(); at += RecordBatch.sizeBytes(bytes, at)) {
            assertThat(RecordBatch.baseOffset(bytes, at)).isEqualTo(next);
            next = RecordBatch.nextOffset(bytes, at);
            assertThat(next).isLessThanOrEqualTo(end);
            batches++;
        }
        assertThat((batches == 1 && atLeastOne) || bytes.readableBytes() <= maxSizeBytes)
                .isTrue();
        bytes.release();
    }

    private void checkAll() throws IOException {
        List<Entry> readable =
                model.stream().filter(entry -> entry.offset >= startOffset).toList();
        long[] seen = {startOffset};
        forEachBatch(journal, startOffset, header -> {
            assertThat(RecordBatch.baseOffset(header, 0)).isLessThanOrEqualTo(seen[0]);
            seen[0] = RecordBatch.nextOffset(header, 0);
        });
        assertThat(seen[0]).isEqualTo(journal.writtenOffset());
        for (int i = 0; i < 20; i++) {
            long wantedMs = clockMs - random.nextInt(8_000);
            Entry expected = readable.stream()
                    .filter(entry -> entry.timestampMs >= wantedMs)
                    .findFirst()
                    .orElse(null);
            TimestampOffset found = findByTimestamp(journal, wantedMs);
            assertThat(found)
                    .isEqualTo(
                            expected == null
                                    ? null
                                    : new TimestampOffset(expected.timestampMs, expected.offset, expected.epoch));
        }
        checkMaxTimestamp(readable);
        checkEpochs(readable);
    }

    private void checkMaxTimestamp(List<Entry> readable) throws IOException {
        Entry newest = null;
        for (Entry entry : readable) {
            if (newest == null || entry.timestampMs > newest.timestampMs) {
                newest = entry;
            }
        }
        TimestampOffset found = maxTimestamp(journal);
        assertThat(found)
                .isEqualTo(
                        newest == null ? null : new TimestampOffset(newest.timestampMs, newest.offset, newest.epoch));
    }

    private void checkEpochs(List<Entry> readable) {
        int newest = readable.isEmpty() ? -1 : readable.get(readable.size() - 1).epoch;
        if (begunEpoch >= newest && begunEpoch >= 0) {
            assertThat(journal.epochs().endOffsetOf(begunEpoch, journal.writtenOffset()))
                    .isEqualTo(new EpochEndOffset(begunEpoch, journal.writtenOffset()));
        } else if (newest >= 0) {
            assertThat(journal.epochs().latest()).isEqualTo(newest);
        }
        if (readable.isEmpty()) {
            return;
        }
        Entry some = readable.get(random.nextInt(readable.size()));
        long expectedEnd = readable.stream()
                .filter(entry -> entry.epoch > some.epoch)
                .mapToLong(Entry::offset)
                .findFirst()
                .orElse(journal.writtenOffset());
        assertThat(journal.epochs().endOffsetOf(some.epoch, journal.writtenOffset()))
                .isEqualTo(new EpochEndOffset(some.epoch, expectedEnd));
        assertThat(journal.epochs().epochOf(some.offset)).isEqualTo(some.epoch);
    }

    private Entry find(long offset) {
        return model.stream()
                .filter(entry -> entry.offset == offset)
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldFindTheNewestSnapshotWhenOlderOnesAreThere(long offset) throws IOException {
        random = new Random(offset);
        config = JournalConfig.DEFAULT;
        reopen();
        append();
        append();
        for (long at = 0; at <= offset; at++) {
            journal.derivedState().writeSnapshot(at, ByteBuffer.wrap(new byte[] {(byte) at}));
        }
        reopen();
        assertThat(journal.derivedState().restoreSnapshot().offset()).isEqualTo(offset);
        assertThat(journal.derivedState().restoreSnapshot().state().get()).isEqualTo((byte) offset);
    }
}
