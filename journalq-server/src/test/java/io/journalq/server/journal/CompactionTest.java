package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.findByTimestamp;
import static io.journalq.server.journal.TestJournals.forEachBatch;
import static io.journalq.server.journal.TestJournals.maxTimestamp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.BatchRewriter;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Crc32c;
import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.TransactionMarker;
import io.journalq.common.record.Varint;
import io.journalq.server.journal.compaction.CompactionConfig;
import io.journalq.server.journal.compaction.CompactionJob;
import io.journalq.server.journal.compaction.CompactionJob.CompactionResult;
import io.journalq.server.journal.compaction.CompactionRules;
import io.journalq.server.journal.compaction.KeyOffsets;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.journal.read.JournalSearch;
import io.journalq.server.journal.read.JournalSearch.TimestampOffset;
import io.journalq.server.journal.segment.SegmentSwap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The records that compaction keeps in addition to the newest of each key, and the ones that it does not touch. */
class CompactionTest {
    private static final Path DIRECTORY = Path.of("data", "topic-0");
    private static final long DAY_MS = 86_400_000L;
    private static final int KEYS_IN_LITTLE_MEMORY = 48;
    private static final JournalConfig CONFIG = JournalConfig.DEFAULT
            .withSegmentSizeBytes(1 << 20)
            .withCompaction(new CompactionConfig(true, 0.5, 0, Long.MAX_VALUE, DAY_MS));

    private final MemoryFileStore store = new MemoryFileStore();
    private Journal journal;
    private int leaderEpoch = 1;

    @BeforeEach
    void open() throws IOException {
        journal = Journal.open(store, DIRECTORY, CONFIG, Runnable::run);
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    /** Appends one batch of {@code key=value} texts; {@code key} alone is a tombstone. */
    private void append(long timestampMs, String... records) throws IOException {
        append(-1, -1, false, timestampMs, records);
    }

    private void append(long producerId, int sequence, boolean transactional, long timestampMs, String... records)
            throws IOException {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            for (String record : records) {
                String[] parts = record.split("=", 2);
                builder.append(timestampMs, bytes(parts[0]), parts.length > 1 ? bytes(parts[1]) : null, List.of());
            }
            short epoch = (short) (producerId < 0 ? -1 : 0);
            builder.setProducerState(producerId, epoch, sequence, transactional);
            write(builder.build());
        }
    }

    private void appendMarker(long producerId, boolean commit) throws IOException {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            byte[] key = ByteBuffer.allocate(4)
                    .putShort((short) 0)
                    .putShort((short) (commit ? 1 : 0))
                    .array();
            builder.append(1_000, key, new byte[6], List.of());
            builder.setProducerState(producerId, (short) 0, -1, true);
            ByteBuf batch = builder.build();
            RecordBatch.setAttributes(batch, 0, (short) (RecordBatch.attributes(batch, 0) | RecordBatch.CONTROL_FLAG));
            setCrc(batch);
            write(batch);
        }
    }

    private static void setCrc(ByteBuf batch) {
        int size = batch.readableBytes() - RecordBatch.ATTRIBUTES;
        RecordBatch.setCrc(batch, 0, Crc32c.compute(batch, RecordBatch.ATTRIBUTES, size));
    }

    private void write(ByteBuf batch) throws IOException {
        journal.append(batch, leaderEpoch);
        batch.release();
        journal.write();
    }

    /** Closes the active segment, and starts the next one with a record. */
    private void roll() throws IOException {
        journal.setConfig(CONFIG.withSegmentSizeBytes(1));
        append(1_000, "other=" + journal.endOffset());
        journal.setConfig(CONFIG);
        journal.flush();
    }

    private CompactionResult compact(long nowMs) throws IOException {
        return compact(nowMs, Map.of(), journal.writtenOffset());
    }

    private CompactionResult compact(long nowMs, Map<Long, Long> producers, long stableOffset) throws IOException {
        return compact(nowMs, producers, stableOffset, 1 << 20);
    }

    /** With memory for {@link #KEYS_IN_LITTLE_MEMORY} keys. */
    private void compactInLittleMemory(long nowMs) throws IOException {
        compact(nowMs, Map.of(), journal.writtenOffset(), KeyOffsets.MIN_SIZE_BYTES);
    }

    private CompactionResult compact(long nowMs, Map<Long, Long> producers, long stableOffset, int memoryBytes)
            throws IOException {
        return journal.rewrites()
                .compact(new CompactionJob(
                        stableOffset,
                        producers,
                        nowMs,
                        new KeyOffsets(memoryBytes, 1, 2),
                        CompactionJob.Step::run,
                        () -> false));
    }

    /**
     * Every record as {@code offset:key=value}; a batch without records as {@code offset-}, a marker as
     * {@code offset!}.
     */
    private List<String> content() throws IOException {
        List<String> texts = new ArrayList<>();
        long next = 0;
        try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT)) {
            while (next < journal.writtenOffset()) {
                ByteBuf bytes =
                        journal.read(next, Long.MAX_VALUE, 1 << 20, true).readFully(UnpooledByteBufAllocator.DEFAULT);
                reader.reset(bytes);
                while (reader.nextBatch()) {
                    next = reader.nextOffset();
                    if (reader.isControlBatch()) {
                        texts.add(reader.baseOffset() + "!");
                    } else if (reader.recordCount() == 0) {
                        texts.add(reader.baseOffset() + "-");
                    } else {
                        addRecords(reader, texts);
                    }
                }
                bytes.release();
            }
        }
        texts.removeIf(text -> text.contains("other"));
        return texts;
    }

    private static void addRecords(BatchReader reader, List<String> texts) {
        while (reader.next()) {
            String value = reader.value() == null ? "" : "=" + reader.value().toString(StandardCharsets.UTF_8);
            texts.add(reader.offset() + ":" + reader.key().toString(StandardCharsets.UTF_8) + value);
        }
    }

    @Test
    void shouldKeepATombstoneForItsTimeWhenItsKeyIsGone() throws IOException {
        append(1_000, "a=1", "b=1");
        append(1_000, "a");
        roll();

        compact(5_000);
        assertThat(content()).containsExactly("1:b=1", "2:a");
        compact(5_000 + 2 * DAY_MS);
        assertThat(content()).as("nothing is dirty").containsExactly("1:b=1", "2:a");
        roll();
        compact(4_999 + DAY_MS);
        assertThat(content()).containsExactly("1:b=1", "2:a");
        roll();
        compact(5_000 + DAY_MS);

        assertThat(content()).containsExactly("1:b=1");
    }

    private static String[] tombstones(int count) {
        return IntStream.range(0, count).mapToObj(number -> "key" + number).toArray(String[]::new);
    }

    @Test
    void shouldDropAnOlderValueWhenItsTombstoneIsInABatchWithMoreKeysThanFitIntoMemory() throws IOException {
        String[] tombstones = tombstones(3 * KEYS_IN_LITTLE_MEMORY);
        append(1_000, tombstones[0] + "=1", tombstones[tombstones.length - 1] + "=1");
        append(1_000, tombstones);
        roll();

        compactInLittleMemory(5_000);
        assertThat(content()).hasSize(tombstones.length).noneMatch(record -> record.contains("="));
        roll();
        compactInLittleMemory(5_000 + DAY_MS);

        assertThat(content()).isEmpty();
    }

    @Test
    void shouldDropAnOlderValueWhenTheTimeOfItsTombstoneIsOverBeforeItsKeyIsRecorded() throws IOException {
        append(1_000, "a=1");
        append(1_000, tombstones(2 * KEYS_IN_LITTLE_MEMORY));
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE);
                BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT);
                BatchRewriter rewriter = new BatchRewriter(UnpooledByteBufAllocator.DEFAULT)) {
            builder.append(1_000, bytes("a"), null, List.of());
            ByteBuf tombstone = builder.build();
            reader.reset(tombstone);
            assertThat(reader.nextBatch()).isTrue();
            // A leader has compacted it before this replica fetched it.
            write(rewriter.rewrite(reader, BitSet.valueOf(new long[] {1}), 2_000));
            tombstone.release();
        }
        roll();

        compactInLittleMemory(5_000);

        assertThat(content()).noneMatch(record -> record.contains(":a"));
    }

    @Test
    void shouldReadABatchWhenItIsVeryLargeWithoutCompression() throws IOException {
        write(largeBatch(129));
        append(2_345, "a=1");
        roll();

        assertThat(findByTimestamp(journal, 1_001)).isEqualTo(new TimestampOffset(1_234, 0, 1));
        compact(5_000);
        assertThat(content()).containsExactly("1:a=1");
    }

    /** One record of the key {@code a} and time 1,234, whose value has {@code mebibytes} MiB of zeros. */
    private static ByteBuf largeBatch(int mebibytes) throws IOException {
        ByteBuf batch;
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(1_234, bytes("a"), null, List.of());
            batch = builder.build();
        }
        RecordBatch.setAttributes(batch, 0, (short) CompressionCodec.LZ4.id());
        batch.writerIndex(RecordBatch.HEADER_SIZE_BYTES);
        int valueBytes = mebibytes << 20;
        ByteBuf begin = Unpooled.buffer();
        // Attributes, deltas of time and offset, the key, the size of the value, the value, and the number of headers.
        int recordBytes = 3 + 2 + Varint.sizeBytes(valueBytes) + valueBytes + 1;
        begin.writerIndex(Varint.set(begin, 0, recordBytes));
        begin.writeZero(3);
        begin.writerIndex(Varint.set(begin, begin.writerIndex(), 1)).writeByte('a');
        begin.writerIndex(Varint.set(begin, begin.writerIndex(), valueBytes));
        CompressionCodec.LZ4.compress(begin, batch);
        ByteBuf zeros = Unpooled.directBuffer(1 << 20).writeZero(1 << 20);
        for (int i = 0; i < mebibytes; i++) {
            CompressionCodec.LZ4.compress(zeros, batch);
        }
        CompressionCodec.LZ4.compress(zeros.writerIndex(1), batch);
        zeros.release();
        batch.setInt(RecordBatch.LENGTH, batch.readableBytes() - RecordBatch.LOG_OVERHEAD_BYTES);
        RecordBatch.setCrc(
                batch,
                0,
                Crc32c.compute(batch, RecordBatch.ATTRIBUTES, batch.readableBytes() - RecordBatch.ATTRIBUTES));
        return batch;
    }

    @Test
    void shouldLeaveTimestampsAsTheyWereWhenABatchGetsItsDeleteHorizon() throws IOException {
        append(1_234, "a");
        append(2_345, "b=1");
        roll();

        compact(50_000);

        try (JournalSearch search = journal.search()) {
            assertThat(search.batchTimestampMs(0)).isEqualTo(1_234);
        }
        assertThat(findByTimestamp(journal, 1_001)).isEqualTo(new TimestampOffset(1_234, 0, 1));
        assertThat(findByTimestamp(journal, 1_235)).isEqualTo(new TimestampOffset(2_345, 1, 1));
        assertThat(maxTimestamp(journal)).isEqualTo(new TimestampOffset(2_345, 1, 1));
    }

    @Test
    void shouldKeepTheLastBatchOfAProducerWhenItsRecordsAreSuperseded() throws IOException {
        append(7, 0, false, 1_000, "a=1");
        append(7, 1, false, 1_000, "a=2", "a=3");
        append(8, 0, false, 1_000, "a=4");
        append(1_000, "a=5");
        roll();

        compact(5_000, Map.of(7L, 1L), journal.writtenOffset());

        assertThat(content()).containsExactly("1-", "4:a=5");
        List<Integer> sequences = new ArrayList<>();
        forEachBatch(journal, 0, header -> {
            if (RecordBatch.producerId(header, 0) == 7) {
                sequences.add(RecordBatch.baseSequence(header, 0));
                sequences.add(RecordBatch.lastOffsetDelta(header, 0));
            }
        });
        assertThat(sequences).containsExactly(1, 1);
    }

    /** As earlier releases have left it: clients of Kafka decompress nothing, and fail. */
    @Test
    void shouldRemoveTheCodecOfABatchThatWasEmptiedBefore() throws IOException {
        append(9, 0, false, 1_000, "a=only");
        ByteBuf emptied = journal.read(0, Long.MAX_VALUE, 1, true)
                .readFully(UnpooledByteBufAllocator.DEFAULT)
                .capacity(RecordBatch.HEADER_SIZE_BYTES);
        emptied.setInt(RecordBatch.LENGTH, RecordBatch.HEADER_SIZE_BYTES - RecordBatch.LOG_OVERHEAD_BYTES);
        emptied.setInt(RecordBatch.RECORD_COUNT, 0);
        RecordBatch.setAttributes(emptied, 0, (short) CompressionCodec.LZ4.id());
        emptied.setInt(RecordBatch.BASE_SEQUENCE, 1);
        setCrc(emptied);
        leaderEpoch = 2;
        write(emptied);
        append(1_000, "a=newer");
        roll();

        compact(5_000);

        ByteBuf kept = journal.read(1, Long.MAX_VALUE, 1, true).readFully(UnpooledByteBufAllocator.DEFAULT);
        assertThat(RecordBatch.baseOffset(kept, 0)).isEqualTo(1);
        assertThat(RecordBatch.compressionId(kept, 0)).isZero();
        kept.release();
    }

    /** A replica that was away has the data of the transaction, and must learn that it was aborted. */
    @Test
    void shouldKeepTheRecordOfAMarkerThatBeginsAnEpoch() throws IOException {
        append(1_000, "a=before");
        append(7, 0, true, 1_000, "a=aborted");
        leaderEpoch = 2;
        appendMarker(7, false);
        append(7, 1, true, 1_000, "c=committed");
        appendMarker(7, true);
        roll();
        compact(5_000);
        roll();
        compact(6_000); // The data of the abort marker is gone, so its delay begins.
        roll();

        compact(6_000 + DAY_MS);

        assertThat(content()).containsExactly("0:a=before", "2!", "3:c=committed", "4!");
        ByteBuf marker = journal.read(2, Long.MAX_VALUE, 1, true).readFully(UnpooledByteBufAllocator.DEFAULT);
        assertThat(TransactionMarker.read(marker, 0).commit()).isFalse();
        marker.release();
    }

    @Test
    void shouldDropWhatWasAbortedAndKeepItsMarkerUntilItsTime() throws IOException {
        append(1_000, "a=before", "b=before");
        append(7, 0, true, 1_000, "a=aborted");
        append(8, 0, true, 1_000, "b=committed");
        appendMarker(7, false);
        appendMarker(8, true);
        append(7, 1, true, 1_000, "c=committed");
        appendMarker(7, true);
        roll();

        compact(5_000);
        assertThat(content()).containsExactly("0:a=before", "3:b=committed", "4!", "5!", "6:c=committed", "7!");
        append(1_000, "b=newer");
        roll();
        compact(6_000); // The data of the abort marker is gone, so its delay begins.
        assertThat(content()).contains("4!", "5!", "7!");
        roll();
        compact(6_000 + DAY_MS); // The delay of the commit marker of producer 8 begins now.

        assertThat(content())
                .contains("0:a=before", "5!", "6:c=committed", "7!")
                .doesNotContain("4!");
    }

    @Test
    void shouldStopBeforeATransactionWhenItHasNotEnded() throws IOException {
        append(1_000, "a=1");
        append(1_000, "a=2");
        append(7, 0, true, 1_000, "a=open");
        append(1_000, "b=1");
        append(1_000, "b=2");
        roll();

        compact(5_000);

        assertThat(content()).containsExactly("1:a=2", "2:a=open", "3:b=1", "4:b=2");
        assertThat(journal.compactedOffset()).isEqualTo(2);
    }

    @Test
    void shouldLeaveAloneWhatIsYoungOrUnstableOrNotOnTheDisk() throws IOException {
        CompactionConfig compaction = new CompactionConfig(true, 0, 10_000, Long.MAX_VALUE, DAY_MS);
        append(1_000, "a=1", "a=2");
        roll();
        append(90_000, "b=1", "b=2");
        roll();
        journal.setConfig(CONFIG.withCompaction(compaction));

        compact(95_000, Map.of(), 1);
        assertThat(content()).as("unstable").contains("0:a=1");
        compact(95_000);
        assertThat(content()).as("young").doesNotContain("0:a=1").contains("3:b=1");
        journal.setConfig(CONFIG);
        compact(95_000);

        assertThat(content()).containsExactly("1:a=2", "4:b=2");
    }

    @Test
    void shouldDoNothingWhenRetentionHasDeletedWhatWasDue() throws IOException {
        append(1_000, "a=1", "a=2");
        roll();
        assertThat(journal.rewrites().debt(Long.MAX_VALUE, 5_000).isDue(CONFIG.compaction()))
                .isTrue();
        journal.deleteRecordsBefore(2);

        CompactionResult result = compact(5_000);

        assertThat(result.passes()).isZero();
        assertThat(journal.segmentCount()).isEqualTo(1);
    }

    @Test
    void shouldTellWhenItIsDue() throws IOException {
        append(1_000, "a=1");
        roll();
        CompactionConfig patient = new CompactionConfig(true, 0.9, 0, 10_000, DAY_MS);
        journal.setConfig(CONFIG.withCompaction(patient));
        assertThat(journal.rewrites().debt(Long.MAX_VALUE, 5_000).dirtyRatio()).isEqualTo(1.0);
        compact(5_000);
        assertThat(journal.rewrites().debt(Long.MAX_VALUE, 5_000).isDue(patient))
                .isFalse();
        roll();
        journal.setConfig(CONFIG.withCompaction(patient));

        assertThat(journal.rewrites().debt(Long.MAX_VALUE, 5_000).isDue(patient))
                .isFalse();
        assertThat(journal.rewrites().debt(Long.MAX_VALUE, 11_001).isDue(patient))
                .isTrue();
    }

    @Test
    void shouldNotCompactWhenTheLogIsDamaged() throws IOException {
        append(1_000, "a=1");
        append(1_000, "a=2");
        roll();
        Path log = DIRECTORY.resolve("00000000000000000000.log");
        byte[] damaged = store.read(log, 1 << 20);
        damaged[damaged.length - 1] ^= 1;
        store.replace(log, ByteBuffer.wrap(damaged), false);
        journal = Journal.open(store, DIRECTORY, CONFIG, Runnable::run);

        assertThatThrownBy(() -> compact(5_000)).isInstanceOf(IOException.class);

        assertThat(store.read(log, 1 << 20)).isEqualTo(damaged);
    }

    /** A later marker of the producer tells nothing about the transaction whose marker is damaged. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldStopBeforeATransactionWhenItsMarkerMayBeInADamagedRange(boolean isKnown) throws IOException {
        // given
        append(1_000, "b=1");
        append(1_000, "a=before", "b=2");
        append(7, 0, true, 1_000, "a=aborted");
        roll();
        appendMarker(7, false);
        roll();
        append(7, 1, true, 1_000, "c=committed");
        appendMarker(7, true);
        roll();
        if (!isKnown) {
            journal = Journal.open(store, DIRECTORY, CONFIG, Runnable::run);
        }
        Path log = DIRECTORY.resolve("00000000000000000004.log");
        byte[] damaged = store.read(log, 1 << 20);
        int marker = RecordBatch.sizeBytes(Unpooled.wrappedBuffer(damaged), 0);
        damaged[marker + RecordBatch.MAGIC] ^= 1;
        store.replace(log, ByteBuffer.wrap(damaged), false);
        if (isKnown) {
            journal = Journal.open(store, DIRECTORY, CONFIG, Runnable::run);
        }

        // when
        compact(5_000, Map.of(), 4);

        // then
        assertThat(journal.compactedOffset()).isEqualTo(3);
        byte[] first = store.read(DIRECTORY.resolve("00000000000000000000.log"), 1 << 20);
        assertThat(new String(first, StandardCharsets.UTF_8)).contains("before", "aborted");
    }

    @Test
    void shouldNotReplaceAnythingWhenTheSegmentBehindMayNotBeOnTheDisk() throws IOException {
        // given
        FaultyFileStore faulty = new FaultyFileStore(store);
        journal = Journal.open(faulty, DIRECTORY, CONFIG, Runnable::run);
        append(1_000, "a=1");
        append(1_000, "a=2");
        roll();
        faulty.directorySyncFails = true;

        // when
        assertThatThrownBy(() -> compact(5_000)).isInstanceOf(IOException.class);

        // then the old segment is used, and a disk that failed is not used again
        faulty.directorySyncFails = false;
        assertThat(store.list(DIRECTORY)).noneMatch(name -> name.endsWith(".swap") || name.endsWith(".cleaned"));
        assertThatThrownBy(() -> compact(5_000)).hasMessageContaining("is fenced");
        assertThat(Journal.open(store, DIRECTORY, CONFIG, Runnable::run).endOffset())
                .isEqualTo(3);
    }

    @Test
    void shouldCloseTheReplacedSegmentsWhenTheyAreClosedBeforeTheSwapIsComplete() throws IOException {
        // given a swap whose checkpoint cannot be written
        Set<LogFile> open = new HashSet<>();
        boolean[] fails = {false};
        FileStore watched = new FilterFileStore(store) {
            @Override
            public LogFile open(Path file, boolean create) throws IOException {
                LogFile opened = new FilterLogFile(super.open(file, create)) {
                    @Override
                    public void close() throws IOException {
                        super.close();
                        open.remove(this);
                    }
                };
                open.add(opened);
                return opened;
            }

            @Override
            public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
                if (fails[0]) {
                    throw new IOException("No space left on device");
                }
                super.replace(file, content, sync);
            }
        };
        journal = Journal.open(watched, DIRECTORY, CONFIG, Runnable::run);
        append(1_000, "a=1");
        append(1_000, "a=2");
        roll();
        fails[0] = true;
        assertThatThrownBy(() -> compact(5_000)).hasMessage("No space left on device");

        // when
        journal.close();

        // then
        assertThat(open).isEmpty();
    }

    @Test // seed 90060621
    void shouldNotCompactWhenABatchSaysAnOffsetThatIsNotItsOwn() throws IOException {
        // given a damaged offset, which no checksum covers
        append(1_000, "a=1");
        append(1_000, "a=2");
        roll();
        Path log = DIRECTORY.resolve("00000000000000000000.log");
        byte[] damaged = store.read(log, 1 << 20);
        damaged[7] ^= (byte) 0x80;
        store.replace(log, ByteBuffer.wrap(damaged), false);
        journal = Journal.open(store, DIRECTORY, CONFIG, Runnable::run);

        // when, then
        assertThatThrownBy(() -> compact(5_000)).hasMessageContaining("offset 128");
        assertThat(store.read(log, 1 << 20)).isEqualTo(damaged);
    }

    @Test // seed 80003937
    void shouldKeepWhatProducersSentBeforeAnyOfItGoes() throws IOException {
        // given
        List<String> calls = new ArrayList<>();
        FileStore watched = new FilterFileStore(store) {
            @Override
            public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
                super.replace(file, content, sync);
                if (sync && file.toString().endsWith(ProducerSnapshots.FILE_SUFFIX)) {
                    calls.add(file.getFileName().toString());
                }
            }

            @Override
            public void move(Path from, Path to) throws IOException {
                super.move(from, to);
                if (to.toString().endsWith(SegmentSwap.SWAP_SUFFIX)) {
                    calls.add("swap");
                }
            }
        };
        journal = Journal.open(watched, DIRECTORY, CONFIG, Runnable::run);
        journal.derivedState().keepBeforeRemoval(() -> ByteBuffer.wrap(new byte[] {1}));
        append(1_000, "a=1");
        append(1_000, "a=2");
        roll();
        calls.clear();

        // when
        compact(5_000);

        // then
        assertThat(calls).startsWith("00000000000000000003.snapshot").contains("swap");
    }

    @Test // seed 93005921
    void shouldVouchForACompactedSegmentOnlyOnceItIsInItsPlace() throws IOException {
        // given a compaction that stops after it has named its new segment
        FileStore failing = new FilterFileStore(store) {
            @Override
            public void syncDirectory(Path directory) throws IOException {
                if (list(directory).stream().anyMatch(name -> name.endsWith(SegmentSwap.SWAP_SUFFIX))) {
                    throw new SyncNotBegunException(directory, new IOException("Too many open files"));
                }
                super.syncDirectory(directory);
            }
        };
        journal = Journal.open(failing, DIRECTORY, CONFIG, Runnable::run);
        append(1_000, "a=1");
        append(1_000, "a=2");
        roll();
        assertThatThrownBy(() -> compact(5_000)).isInstanceOf(IOException.class);
        append(1_000, "b=1");
        journal.setConfig(CONFIG.withCheckpointIntervalBytes(1));
        journal.flush();

        // when a power loss takes that name
        for (String name : store.list(DIRECTORY)) {
            if (name.endsWith(SegmentSwap.SWAP_SUFFIX)) {
                store.delete(DIRECTORY.resolve(name));
            }
        }
        journal = Journal.open(store, DIRECTORY, CONFIG, Runnable::run);

        // then the old segment is complete
        assertThat(content()).containsExactly("0:a=1", "1:a=2", "3:b=1");
    }

    @Test
    void shouldNotWriteAnythingWhenNothingIsSuperseded() throws IOException {
        append(1_000, "a=1");
        append(1_000, "b=1");
        roll();
        byte[] before = store.read(DIRECTORY.resolve("00000000000000000000.log"), 1 << 20);

        CompactionResult result = compact(5_000);

        assertThat(result.freedSizeBytes()).isZero();
        assertThat(store.read(DIRECTORY.resolve("00000000000000000000.log"), 1 << 20))
                .isEqualTo(before);
        assertThat(journal.compactedOffset()).isEqualTo(2);
    }

    @Test
    void shouldMergeSegmentsWhenTheyBecameSmall() throws IOException {
        for (int i = 0; i < 10; i++) {
            append(1_000, "a=" + i);
            roll();
        }

        compact(5_000);

        assertThat(journal.segmentCount()).isEqualTo(2);
        assertThat(content()).containsExactly("18:a=9");
    }

    @Test
    void shouldFindInTheSegmentsOfASearchWhenTheyAreMergedMeanwhile() throws IOException {
        // given a segment that is compacted already, whose index is in its file only
        append(1_000, "a=" + "1".repeat(7_000));
        append(2_000, "b=" + "1".repeat(5_000));
        append(3_000, "c=" + "1".repeat(5_000));
        roll();
        compact(5_000);
        append(4_000, "a=" + "2".repeat(9_000));
        roll();
        journal.checkpoint();
        journal.releaseIdleFiles();
        journal.releaseIdleFiles();
        journal.setConfig(CONFIG.withIndexIntervalBytes(1));

        try (JournalSearch search = journal.search()) {
            // when the merged segment has an index of the same name
            compact(5_000);
            assertThat(journal.segmentCount()).isEqualTo(2);
            append(5_000, "d=1");
            journal.checkpoint();
            assertThat(store.list(DIRECTORY)).contains("00000000000000000000.index");

            // then
            assertThat(search.findByTimestamp(3_000).offset()).isEqualTo(2);
        }
    }

    @Test
    void shouldCountAProducerOfMarkersOnlyAsLiving() throws IOException {
        appendMarker(7, true);
        roll();
        Map<Long, Long> living = Map.of(7L, CompactionRules.MARKERS_ONLY);

        compact(5_000, living, journal.writtenOffset());
        roll();
        compact(5_000 + 2 * DAY_MS, living, journal.writtenOffset());

        assertThat(content()).containsExactly("0!");
    }

    @Test
    void shouldKeepTheEndOfTheLogWhenKilledWhileTheNewestSegmentIsEmpty() throws IOException {
        for (int changes = 0; ; changes++) {
            // given a closed segment, and no record behind it
            MemoryFileStore files = new MemoryFileStore();
            CrashingFileStore crashing = new CrashingFileStore(files);
            journal = Journal.open(crashing, DIRECTORY, CONFIG.withSegmentMaxAgeMs(10_000), Runnable::run);
            append(1_000, "a=1");
            append(1_000, "b=1");
            append(1_000, "a=2");
            append(1_000, "b=2");
            append(1_000, "b=3");
            journal.flush();
            journal.applyRetention(20_000, Long.MAX_VALUE);
            assertThat(journal.segmentCount()).isEqualTo(2);

            // when
            crashing.crashAfter(changes);
            try {
                compact(5_000);
            } catch (IOException killed) {
                assertThat(killed).hasMessageContaining("killed");
            }
            journal = Journal.open(files, DIRECTORY, CONFIG, Runnable::run);

            // then
            assertThat(journal.endOffset()).as("after %d changes", changes).isEqualTo(5);
            ByteBuf last = journal.read(4, Long.MAX_VALUE, 1 << 20, true).readFully(UnpooledByteBufAllocator.DEFAULT);
            assertThat(last.isReadable())
                    .as("last record after %d changes", changes)
                    .isTrue();
            last.release();
            assertThat(content()).as("after %d changes", changes).contains("2:a=2", "4:b=3");
            if (!crashing.hasCrashed()) {
                return;
            }
        }
    }
}
