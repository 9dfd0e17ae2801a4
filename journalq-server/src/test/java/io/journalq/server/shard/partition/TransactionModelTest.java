package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.JournalConfig;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Producers that write in and outside of transactions, end them, and are killed, with a log whose tail is sometimes
 * lost. Compares the records and the last stable offset that read-committed consumers see with a model.
 */
class TransactionModelTest {
    private static final int STEPS = 120;
    private static final int PRODUCERS = 4;

    /** Reading batch by batch is slow, so only every n-th check does it. */
    private static final int BATCH_WISE_INTERVAL = 8;

    private static final JournalConfig CONFIG = JournalConfig.DEFAULT.withSegmentSizeBytes(1_500);

    @TempDir
    Path directory;

    private final List<Entry> log = new ArrayList<>();
    private final Producer[] producers = new Producer[PRODUCERS];
    private Random random;
    private SteppedPartition partition;
    private long startOffset;
    private int written;

    /** A batch or a marker in the log. */
    private record Entry(
            long offset, int producer, boolean transactional, boolean marker, boolean commit, List<String> values) {
        long nextOffset() {
            return offset + (marker ? 1 : values.size());
        }
    }

    /** A client's state. */
    private static final class Producer {
        private short epoch;
        private int sequence;
        private boolean open;
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void shouldShowWhatTheModelShows(long seed) throws IOException {
        random = new Random(seed);
        for (int i = 0; i < PRODUCERS; i++) {
            producers[i] = new Producer();
        }
        partition = SteppedPartition.open(directory, CONFIG);
        for (int step = 0; step < STEPS; step++) {
            step();
            check("seed " + seed + " step " + step);
        }
        partition.closeCleanly();
    }

    private void step() throws IOException {
        int choice = random.nextInt(100);
        if (choice < 50) {
            write();
        } else if (choice < 85) {
            end();
        } else if (choice < 90) {
            partition.closeCleanly();
            partition = SteppedPartition.open(directory, CONFIG);
        } else if (choice < 94) {
            partition = SteppedPartition.open(directory, CONFIG);
        } else if (choice < 97) {
            loseTail();
        } else {
            deleteRecords();
        }
    }

    private void write() {
        int number = random.nextInt(PRODUCERS);
        Producer producer = producers[number];
        boolean transactional = producer.open || random.nextInt(3) > 0;
        String[] values = new String[1 + random.nextInt(3)];
        for (int i = 0; i < values.length; i++) {
            values[i] = "p" + number + " " + written++;
        }
        SteppedPartition.Outcome outcome =
                partition.append(number, producer.epoch, producer.sequence, transactional, values);
        assertThat(outcome.error()).isEqualTo(ErrorCode.NONE);
        log.add(new Entry(outcome.offset(), number, transactional, false, false, List.of(values)));
        producer.sequence += values.length;
        producer.open |= transactional;
    }

    private void end() {
        int number = random.nextInt(PRODUCERS);
        Producer producer = producers[number];
        if (producer.open) {
            boolean growing = random.nextBoolean();
            mark(number, (short) (producer.epoch + (growing ? 1 : 0)), random.nextBoolean());
        }
    }

    private void mark(int number, short epoch, boolean commit) {
        SteppedPartition.Outcome outcome = partition.mark(number, epoch, commit);
        assertThat(outcome.error()).isEqualTo(ErrorCode.NONE);
        Producer producer = producers[number];
        if (epoch != producer.epoch) {
            producer.epoch = epoch;
            producer.sequence = 0;
        }
        producer.open = false;
        log.add(new Entry(outcome.offset(), number, true, true, commit, List.of()));
        // When it is requested again, there is still only one marker.
        SteppedPartition.Outcome again = partition.mark(number, epoch, commit);
        assertThat(again.error()).isEqualTo(ErrorCode.NONE);
        assertThat(again.offset()).isEqualTo(outcome.offset());
    }

    /**
     * Simulates a power loss that takes some of the data that was not synced; then every producer starts a new epoch.
     */
    private void loseTail() throws IOException {
        Path newest = newestLog();
        byte[] content = newest == null ? new byte[0] : Files.readAllBytes(newest);
        int flushed = flushedBytes(Unpooled.wrappedBuffer(content));
        if (flushed < content.length) {
            int kept = flushed + random.nextInt(content.length - flushed);
            Files.write(newest, Arrays.copyOf(content, kept));
        }
        partition = SteppedPartition.open(directory, CONFIG);
        long endOffset = partition.host().log().highWatermark();
        log.removeIf(entry -> entry.nextOffset() > endOffset);
        startOffset = Math.min(startOffset, endOffset);
        for (int i = 0; i < PRODUCERS; i++) {
            mark(i, (short) (producers[i].epoch + 1), false);
        }
    }

    private int flushedBytes(ByteBuf bytes) {
        long flushedOffset = partition.host().journal().flushedOffset();
        int at = 0;
        while (at < bytes.writerIndex() && RecordBatch.baseOffset(bytes, at) < flushedOffset) {
            at += RecordBatch.sizeBytes(bytes, at);
        }
        return at;
    }

    /** Null if there is none. */
    private Path newestLog() throws IOException {
        try (Stream<Path> files = Files.list(SteppedPartition.directory(directory))) {
            return files.filter(file -> file.toString().endsWith(".log"))
                    .max(Comparator.naturalOrder())
                    .orElse(null);
        }
    }

    private void deleteRecords() {
        long highWatermark = partition.host().log().highWatermark();
        long offset = startOffset + random.nextInt((int) (highWatermark - startOffset) / 2 + 1);
        assertThat(partition.deleteRecordsBefore(offset)).isEqualTo(ErrorCode.NONE);
        startOffset = offset;
    }

    private void check(String where) throws IOException {
        long highWatermark = partition.host().log().highWatermark();
        assertThat(highWatermark)
                .as(where)
                .isEqualTo(log.isEmpty() ? 0 : log.get(log.size() - 1).nextOffset());
        long stableOffset = partition.host().log().lastStableOffset();
        // A restart may have forgotten the deleted beginning of an open transaction: none of it can be read.
        assertThat(stableOffset).as(where).isBetween(stableOffset(0), stableOffset(startOffset));
        List<String> expected = visible(stableOffset);
        assertThat(partition.readCommitted(startOffset, 1 << 20)).as(where).isEqualTo(expected);
        if (log.size() % BATCH_WISE_INTERVAL == 0) {
            assertThat(partition.readCommitted(startOffset, 1)).as(where).isEqualTo(expected);
        }
    }

    /** First offset of the oldest transaction that is open, or whose marker lies behind {@code from}. */
    private long stableOffset(long from) {
        Map<Integer, Long> firstOffsets = new HashMap<>();
        for (Entry entry : log) {
            if (entry.marker()) {
                firstOffsets.remove(entry.producer());
            } else if (entry.transactional() && entry.nextOffset() > from) {
                firstOffsets.putIfAbsent(entry.producer(), entry.offset());
            }
        }
        long first =
                firstOffsets.values().stream().mapToLong(Long::longValue).min().orElse(Long.MAX_VALUE);
        long end = log.isEmpty() ? 0 : log.get(log.size() - 1).nextOffset();
        return Math.min(end, Math.max(first, startOffset));
    }

    private List<String> visible(long stableOffset) {
        Set<Entry> aborted = new HashSet<>();
        for (int i = 0; i < log.size(); i++) {
            Entry marker = log.get(i);
            if (marker.marker() && !marker.commit()) {
                for (int j = i - 1; j >= 0; j--) {
                    Entry entry = log.get(j);
                    if (entry.producer() == marker.producer()) {
                        if (entry.marker() || !entry.transactional()) {
                            break;
                        }
                        aborted.add(entry);
                    }
                }
            }
        }
        List<String> visible = new ArrayList<>();
        for (Entry entry : log) {
            if (!entry.marker() && entry.nextOffset() <= stableOffset && !aborted.contains(entry)) {
                for (int i = 0; i < entry.values().size(); i++) {
                    if (entry.offset() + i >= startOffset) {
                        visible.add(entry.values().get(i));
                    }
                }
            }
        }
        return visible;
    }
}
