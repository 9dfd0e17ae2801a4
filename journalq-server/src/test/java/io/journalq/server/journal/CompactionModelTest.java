package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.findByTimestamp;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import io.journalq.server.journal.compaction.CompactionConfig;
import io.journalq.server.journal.compaction.CompactionJob;
import io.journalq.server.journal.compaction.CompactionJob.CompactionResult;
import io.journalq.server.journal.compaction.KeyOffsets;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.read.JournalSearch.TimestampOffset;
import io.journalq.server.journal.segment.SegmentSwap;
import io.journalq.server.journal.wal.CoveredJournal;
import io.journalq.server.journal.wal.WriteAheadFrames;
import io.journalq.server.journal.wal.WriteAheadLog;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random keyed writes, tombstones, codecs, compactions, truncations, restarts, and kills at any change of a file.
 * Instead of truncations, some runs use write-ahead files that still contain everything at a restart. After every step
 * the log must contain the newest value of each key, unchanged and with its original offset, and nothing that was never
 * written.
 */
class CompactionModelTest {
    private static final Path DATA = Path.of("data");
    private static final Path DIRECTORY = DATA.resolve("topic-0");
    private static final int WRITE_AHEAD_BYTES = 1 << 20;
    private static final List<CompressionCodec> CODECS = List.of(CompressionCodec.values());
    private static final int STEPS = 150;
    /** More than fit into the memory of a compaction, so that some need several passes. */
    private static final int KEYS = 80;

    private static final long DELETE_RETENTION_MS = 5_000;

    private final MemoryFileStore files = new MemoryFileStore();
    private final TreeMap<Long, Entry> model = new TreeMap<>();
    private CrashingFileStore store;
    private Random random;
    private JournalConfig config;
    private Journal journal;
    private boolean covered;
    private long startOffset;
    /** Truncations never go below this offset. */
    private long stableOffset;

    private long clockMs = 1_000_000;

    /** Its data never becomes durable anywhere else, so that it stays in the write-ahead files. */
    private static final CoveredJournal NOWHERE_ELSE = new CoveredJournal() {
        @Override
        public long flushedOffset() {
            return 0;
        }

        @Override
        public boolean isGone() {
            return false;
        }

        @Override
        public void flushSoon() {}
    };

    /** One record; null value for a tombstone. */
    private record Entry(long offset, String key, String value, long timestampMs) {}

    static LongStream seeds() {
        return LongStream.rangeClosed(1, Long.getLong("journal.model.seeds", 25));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldKeepTheNewestOfEachKeyWhenSeeded(long seed) throws IOException {
        random = new Random(seed);
        covered = seed % 2 == 0;
        config = JournalConfig.DEFAULT
                .withSegmentSizeBytes(500 + random.nextInt(4_000))
                .withIndexIntervalBytes(1 + random.nextInt(500))
                .withWarmSizeBytes(random.nextInt(2_000))
                .withCheckpointIntervalBytes(1 + random.nextInt(10_000))
                .withCompaction(new CompactionConfig(true, 0, 0, Long.MAX_VALUE, DELETE_RETENTION_MS));
        open();
        for (int step = 0; step < STEPS; step++) {
            step();
            if (step % 4 == 0) {
                check();
            }
        }
        settle();
    }

    private void open() throws IOException {
        store = new CrashingFileStore(files);
        WalReplay.run(store, DATA);
        journal = Journal.open(store, DIRECTORY, config, Runnable::run);
        if (covered) {
            cover();
        }
        assertThat(files.list(DIRECTORY))
                .noneMatch(name -> name.endsWith(SegmentSwap.CLEANED_SUFFIX) || name.endsWith(SegmentSwap.SWAP_SUFFIX));
        startOffset = Math.max(startOffset, journal.startOffset());
    }

    private void cover() throws IOException {
        WriteAheadLog log = new WriteAheadLog(store, DATA, WRITE_AHEAD_BYTES);
        log.makeSpare();
        byte[] directory = bytes(DIRECTORY.getFileName().toString());
        journal.setObserver((base, position, endOffset, batches) -> {
            WriteAheadFrames frames = new WriteAheadFrames(log.maxFramesSizeBytes(1));
            frames.add(new WriteAheadFrames.Entry(NOWHERE_ELSE, endOffset), directory, base, position, batches);
            try {
                log.commit(List.of(frames));
            } catch (IOException failure) {
                throw new AssertionError(failure);
            }
        });
    }

    private void step() throws IOException {
        switch (random.nextInt(20)) {
            case 0 -> {
                journal.close();
                open();
            }
            case 1 -> open(); // As after a kill: written data is in the files.
            case 2, 3, 4 -> compact();
            case 5, 6 -> killWhileCompacting();
            case 7 -> clockMs += random.nextInt((int) (2 * DELETE_RETENTION_MS));
            case 8 -> truncate();
            case 9 -> journal.releaseIdleFiles();
            case 10 -> {
                if (random.nextInt(3) == 0) {
                    files.delete(DIRECTORY.resolve(JournalCheckpoint.FILE_NAME));
                    open();
                }
            }
            default -> append();
        }
    }

    private void append() throws IOException {
        int batches = 1 + random.nextInt(6);
        for (int i = 0; i < batches; i++) {
            CompressionCodec codec = CODECS.get(random.nextInt(CODECS.size()));
            List<Entry> entries = new ArrayList<>();
            try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, codec)) {
                int records = 1 + random.nextInt(random.nextInt(30) == 0 ? 120 : 5);
                for (int j = 0; j < records; j++) {
                    clockMs += random.nextInt(20);
                    String key = "key-" + random.nextInt(KEYS);
                    String value = random.nextInt(4) == 0 ? null : "v".repeat(random.nextInt(60)) + random.nextInt();
                    Entry entry = new Entry(journal.endOffset() + j, key, value, clockMs - random.nextInt(10));
                    builder.append(entry.timestampMs, bytes(key), bytes(value), List.of(new Header("h", bytes(key))));
                    entries.add(entry);
                }
                ByteBuf batch = builder.build();
                journal.append(batch, 1);
                batch.release();
            }
            entries.forEach(entry -> model.put(entry.offset, entry));
        }
        journal.write();
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    private CompactionResult compact() throws IOException {
        journal.flush();
        // Room for 48 keys.
        KeyOffsets memory = new KeyOffsets(KeyOffsets.MIN_SIZE_BYTES, random.nextLong(), random.nextLong());
        stableOffset = Math.max(stableOffset, journal.writtenOffset() - random.nextInt(20));
        return journal.rewrites()
                .compact(new CompactionJob(
                        stableOffset, Map.of(), clockMs, memory, CompactionJob.Step::run, () -> false));
    }

    private void killWhileCompacting() throws IOException {
        journal.flush();
        store.crashAfter(random.nextInt(40));
        try {
            compact();
        } catch (IOException killed) {
            assertThat(killed).hasMessageContaining("killed");
        }
        if (store.hasCrashed()) {
            // The process may continue for a while and serve its data from memory.
            check();
        }
        open();
    }

    private void truncate() throws IOException {
        if (random.nextInt(3) > 0 || covered) {
            return;
        }
        long offset = Math.max(stableOffset, journal.endOffset() - random.nextInt(40));
        long end = journal.truncateTo(offset);
        model.tailMap(end, true).clear();
    }

    private void check() throws IOException {
        NavigableMap<Long, Entry> visible = readFrom(journal.startOffset());
        for (Entry entry : visible.values()) {
            if (!entry.equals(model.get(entry.offset))) {
                assertThat(entry).isEqualTo(model.get(entry.offset));
            }
        }
        Map<String, Entry> newest = new HashMap<>();
        model.values().forEach(entry -> newest.put(entry.key, entry));
        Map<String, Entry> newestVisible = new HashMap<>();
        visible.values().forEach(entry -> newestVisible.put(entry.key, entry));
        for (Entry entry : newest.values()) {
            if (entry.value == null && !newestVisible.containsKey(entry.key)) {
                continue; // The tombstone has expired, and no older value came back.
            }
            if (!entry.equals(newestVisible.get(entry.key))) {
                assertThat(newestVisible.get(entry.key)).isEqualTo(entry);
            }
        }
        checkPlaces(visible);
    }

    private void checkPlaces(NavigableMap<Long, Entry> visible) throws IOException {
        if (journal.writtenOffset() == startOffset) {
            return;
        }
        long from = startOffset + random.nextInt((int) (journal.writtenOffset() - startOffset));
        assertThat(readFrom(from)).isEqualTo(visible.tailMap(from, true));
        long wantedMs = clockMs - random.nextInt(3_000);
        Entry first = visible.values().stream()
                .filter(entry -> entry.timestampMs >= wantedMs)
                .findFirst()
                .orElse(null);
        assertThat(findByTimestamp(journal, wantedMs))
                .isEqualTo(first == null ? null : new TimestampOffset(first.timestampMs, first.offset, 1));
    }

    /** Reads to the end as a consumer does. */
    private NavigableMap<Long, Entry> readFrom(long from) throws IOException {
        NavigableMap<Long, Entry> entries = new TreeMap<>();
        long next = from;
        try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT)) {
            while (next < journal.writtenOffset()) {
                ByteBuf bytes =
                        journal.read(next, Long.MAX_VALUE, 700, true).readFully(UnpooledByteBufAllocator.DEFAULT);
                assertThat(bytes.isReadable())
                        .as("something to read at " + next)
                        .isTrue();
                reader.reset(bytes);
                while (reader.nextBatch()) {
                    while (reader.next()) {
                        if (reader.offset() >= from) {
                            Entry entry = entry(reader);
                            assertThat(entries.put(entry.offset, entry)).isNull();
                        }
                    }
                    assertThat(reader.nextOffset()).isGreaterThan(next);
                    next = reader.nextOffset();
                }
                reader.reset(Unpooled.EMPTY_BUFFER);
                bytes.release();
            }
        }
        return entries;
    }

    private static Entry entry(BatchReader reader) {
        String key = reader.key().toString(StandardCharsets.UTF_8);
        ByteBuf value = reader.value();
        assertThat(reader.headers()).containsExactly(new Header("h", bytes(key)));
        return new Entry(
                reader.offset(),
                key,
                value == null ? null : value.toString(StandardCharsets.UTF_8),
                reader.timestampMs());
    }

    /** When nothing is written any more, the closed segments contain one record for each existing key. */
    private void settle() throws IOException {
        for (int i = 0; i < 3; i++) {
            append();
            journal.flush();
            long end = journal.segments()[journal.segmentCount() - 1].baseOffset();
            journal.rewrites()
                    .compact(new CompactionJob(
                            end,
                            Map.of(),
                            clockMs,
                            new KeyOffsets(1 << 20, 1, 2),
                            CompactionJob.Step::run,
                            () -> false));
            clockMs += 2 * DELETE_RETENTION_MS;
        }
        check();
        Map<String, Integer> count = new HashMap<>();
        long closedEnd = journal.compactedOffset();
        readFrom(startOffset).headMap(closedEnd).values().forEach(entry -> count.merge(entry.key, 1, Integer::sum));
        assertThat(count.values()).allMatch(times -> times == 1);
    }
}
