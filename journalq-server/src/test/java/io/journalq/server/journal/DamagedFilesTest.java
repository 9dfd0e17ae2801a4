package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static io.journalq.server.journal.TestJournals.findByTimestamp;
import static io.journalq.server.journal.TestJournals.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.journalq.server.journal.transaction.TransactionIndexFile;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * A journal of several segments is closed cleanly. Then one of its files is missing, empty, truncated or replaced by
 * that of another segment, or has a flipped bit at any byte. Healthy batches are served, and nothing else. The log
 * names the file. Derived files are rebuilt, and no log file is changed or deleted.
 */
class DamagedFilesTest {
    private static final Path DIRECTORY = Path.of("data", "topic-0");
    private static final int BATCHES = 12;
    private static final int BATCHES_EACH = 4;
    private static final JournalConfig CONFIG =
            JournalConfig.DEFAULT.withIndexIntervalBytes(150).withSegmentSizeBytes(600);

    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    /** Messages of failed reads; the broker logs them. */
    private final List<String> refusals = new ArrayList<>();

    private MemoryFileStore store = new MemoryFileStore();
    private Map<String, byte[]> healthy;

    @BeforeEach
    void write() throws IOException {
        try (Journal journal = open()) {
            append(journal, BATCHES, 1, 60);
            journal.derivedState().addAborted(new AbortedTransaction(1, 0, 1, 2));
            journal.derivedState().writeSnapshot(BATCHES - 2, ByteBuffer.wrap(new byte[] {1}));
            journal.derivedState().addAborted(new AbortedTransaction(1, 3, 5, 6));
            journal.derivedState().writeSnapshot(BATCHES, ByteBuffer.wrap(new byte[] {2}));
            assertThat(journal.segments()).hasSize(BATCHES / BATCHES_EACH);
        }
        healthy = contents();
        lines.start();
        logger().setLevel(Level.WARN);
        logger().setAdditive(false);
        logger().addAppender(lines);
    }

    @AfterEach
    void detach() {
        logger().detachAppender(lines);
        logger().setAdditive(true);
        logger().setLevel(null);
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.journalq.server.journal");
    }

    private Journal open() throws IOException {
        return Journal.open(store, DIRECTORY, CONFIG, Runnable::run);
    }

    private Map<String, byte[]> contents() throws IOException {
        Map<String, byte[]> contents = new TreeMap<>();
        for (String name : store.list(DIRECTORY)) {
            contents.put(name, store.read(DIRECTORY.resolve(name), Integer.MAX_VALUE));
        }
        return contents;
    }

    /** The healthy directory with one file changed, or deleted if there is no content. */
    private void damage(String name, byte[] content) throws IOException {
        store = new MemoryFileStore();
        for (Map.Entry<String, byte[]> file : healthy.entrySet()) {
            byte[] bytes = file.getKey().equals(name) ? content : file.getValue();
            if (bytes != null) {
                store.replace(DIRECTORY.resolve(file.getKey()), ByteBuffer.wrap(bytes.clone()), false);
            }
        }
        lines.list.clear();
        refusals.clear();
    }

    private static String segmentFile(int segment, String suffix) {
        return String.format("%020d%s", segment * BATCHES_EACH, suffix);
    }

    private byte[] flipped(String name, int at, int bits) {
        byte[] content = healthy.get(name).clone();
        content[at] ^= (byte) bits;
        return content;
    }

    private byte[] half(String name) {
        byte[] content = healthy.get(name);
        return Arrays.copyOf(content, content.length / 2 + 3);
    }

    private static List<Long> offsets(long from, long to) {
        return LongStream.range(from, to).boxed().toList();
    }

    private void assertNamed(String name) {
        List<String> said = new ArrayList<>(refusals);
        lines.list.forEach(line -> said.add(line.getFormattedMessage()));
        assertThat(said)
                .as("a log line, or the message of a failed read, that names the file")
                .anyMatch(line -> line.contains(name));
    }

    /** Except for a torn tail, which is removed. */
    private void assertLogsUnchanged(String damaged, byte[] content) throws IOException {
        Map<String, byte[]> now = contents();
        for (Map.Entry<String, byte[]> file : healthy.entrySet()) {
            if (file.getKey().endsWith(".log")) {
                byte[] expected = file.getKey().equals(damaged) ? content : file.getValue();
                if (expected != null) {
                    assertThat(now.get(file.getKey())).isEqualTo(expected);
                }
            }
        }
    }

    /** The batches that a reader gets if it continues behind each batch that cannot be read. */
    private List<Long> readHealthy(Journal journal) throws IOException {
        List<Long> read = new ArrayList<>();
        long next = 0;
        while (next < BATCHES) {
            try {
                List<Long> more = readAll(journal, next);
                read.addAll(more);
                return read;
            } catch (CorruptJournalException | AssertionError damaged) {
                // One batch at a time, as far as they can be read.
                try {
                    long offset = next;
                    read.addAll(readOne(journal, offset));
                } catch (CorruptJournalException bad) {
                    refusals.add(bad.getMessage());
                    assertThat(bad.getMessage()).contains(".log at byte ");
                }
                next++;
            }
        }
        return read;
    }

    private static List<Long> readOne(Journal journal, long offset) throws IOException {
        var batch = journal.read(offset, Long.MAX_VALUE, 1, true).readFully(UnpooledByteBufAllocator.DEFAULT);
        try {
            boolean it = batch.isReadable() && RecordBatch.baseOffset(batch, 0) == offset;
            return it ? List.of(offset) : List.of();
        } finally {
            batch.release();
        }
    }

    @Test
    void shouldServeTheOtherBatchesWhenAnyByteOfASegmentIsFlipped() throws IOException {
        for (int segment = 0; segment < BATCHES / BATCHES_EACH; segment++) {
            String name = segmentFile(segment, ".log");
            int batchBytes = healthy.get(name).length / BATCHES_EACH;
            for (int at = 0; at < healthy.get(name).length; at++) {
                byte[] content = flipped(name, at, 0x11);
                damage(name, content);
                boolean epoch = at % batchBytes >= 12 && at % batchBytes < 16;
                long hit = (long) segment * BATCHES_EACH + at / batchBytes;

                try (Journal journal = open()) {
                    List<Long> read = readHealthy(journal);

                    assertThat(read)
                            .as("%s byte %d", name, at)
                            .isSubsetOf(offsets(0, BATCHES))
                            .doesNotHaveDuplicates();
                    if (!epoch) {
                        assertThat(read).doesNotContain(hit);
                        assertNamed(name);
                    }
                    List<Long> others = new ArrayList<>(offsets(0, BATCHES));
                    others.removeIf(offset -> offset == hit);
                    assertThat(read).as("%s byte %d", name, at).containsAll(others);
                }
                assertLogsUnchanged(name, content);
            }
        }
    }

    @Test
    void shouldServeTheOtherBatchesWhenAnyBitIsFlippedFarFromAnEntryOfTheIndex() throws IOException {
        // given one segment, whose index has an entry for its first batch only
        store = new MemoryFileStore();
        try (Journal journal = Journal.open(store, DIRECTORY, JournalConfig.DEFAULT, Runnable::run)) {
            append(journal, BATCHES, 3, 40);
        }
        String name = segmentFile(0, ".log");
        healthy = contents();
        int batchBytes = healthy.get(name).length / BATCHES;
        for (int hit : new int[] {0, 5}) {
            for (int bit = 0; bit < batchBytes * Byte.SIZE; bit++) {
                boolean inEpoch = bit / Byte.SIZE >= RecordBatch.LEADER_EPOCH && bit / Byte.SIZE < RecordBatch.MAGIC;
                if (inEpoch) {
                    continue; // Not covered by a checksum.
                }

                // when
                damage(name, flipped(name, hit * batchBytes + bit / Byte.SIZE, 1 << bit % Byte.SIZE));

                // then
                try (Journal journal = Journal.open(store, DIRECTORY, JournalConfig.DEFAULT, Runnable::run)) {
                    for (int batch = 0; batch < BATCHES; batch++) {
                        // The first, the second or the third record of a batch.
                        int record = batch % 3;
                        if (batch != hit) {
                            assertThat(baseOffsetRead(journal, batch * 3L + record))
                                    .as("bit %d of batch %d", bit, hit)
                                    .isEqualTo(batch * 3L);
                        }
                    }
                    for (int record = 0; record < 3; record++) {
                        long offset = hit * 3L + record;
                        assertThatThrownBy(() -> baseOffsetRead(journal, offset))
                                .as("bit %d of batch %d", bit, hit)
                                .isInstanceOf(CorruptJournalException.class);
                    }
                }
            }
        }
    }

    @Test // seed 5622435
    void shouldServeTheNextBatchWhenAFlippedBitMovesAnOffsetIntoIt() throws IOException {
        // given batches of 2, 2, 1 and 2 records; the second has offset 3 instead of 2
        store = new MemoryFileStore();
        int secondPosition;
        try (Journal journal = Journal.open(store, DIRECTORY, JournalConfig.DEFAULT, Runnable::run)) {
            append(journal, 1, 2, 40);
            secondPosition = store.read(DIRECTORY.resolve(segmentFile(0, ".log")), Integer.MAX_VALUE).length;
            append(journal, 1, 2, 40);
            append(journal, 1, 1, 40);
            append(journal, 1, 2, 40);
        }
        healthy = contents();

        // when
        damage(segmentFile(0, ".log"), flipped(segmentFile(0, ".log"), secondPosition + Long.BYTES - 1, 1));

        // then
        try (Journal journal = Journal.open(store, DIRECTORY, JournalConfig.DEFAULT, Runnable::run)) {
            assertThat(baseOffsetRead(journal, 4)).isEqualTo(4);
            assertThat(baseOffsetRead(journal, 5)).isEqualTo(5);
            for (long offset = 2; offset < 4; offset++) {
                long lost = offset;
                assertThatThrownBy(() -> baseOffsetRead(journal, lost)).isInstanceOf(CorruptJournalException.class);
            }
        }
    }

    /** Base offset of the first batch that a read finds. */
    private static long baseOffsetRead(Journal journal, long offset) throws IOException {
        ByteBuf batch = journal.read(offset, Long.MAX_VALUE, 1, true).readFully(UnpooledByteBufAllocator.DEFAULT);
        try {
            return RecordBatch.baseOffset(batch, 0);
        } finally {
            batch.release();
        }
    }

    @Test
    void shouldServeTheOtherSegmentsWhenOneIsMissingEmptyCutShortOrOfAnother() throws IOException {
        for (int segment = 0; segment < BATCHES / BATCHES_EACH; segment++) {
            String name = segmentFile(segment, ".log");
            byte[] other = healthy.get(segmentFile((segment + 1) % 3, ".log"));
            List<byte[]> contents = Arrays.asList(null, new byte[0], half(name), other);
            for (int kind = 0; kind < contents.size(); kind++) {
                damage(name, contents.get(kind));

                try (Journal journal = open()) {
                    long end = journal.writtenOffset();
                    List<Long> read = new ArrayList<>();
                    for (long offset : offsets(journal.startOffset(), end)) {
                        try {
                            read.addAll(readOne(journal, offset));
                        } catch (CorruptJournalException bad) {
                            refusals.add(bad.getMessage());
                            assertThat(bad.getMessage()).contains(name);
                        }
                    }
                    List<Long> others = new ArrayList<>(offsets(0, BATCHES));
                    others.removeAll(offsets((long) segment * BATCHES_EACH, (segment + 1L) * BATCHES_EACH));
                    assertThat(read)
                            .as("%s, kind %d", name, kind)
                            .isSubsetOf(offsets(0, BATCHES))
                            .containsAll(others)
                            .doesNotHaveDuplicates();
                    boolean retentionMayHaveTakenIt = segment == 0 && contents.get(kind) == null;
                    if (!retentionMayHaveTakenIt) {
                        assertNamed(name);
                    }
                }
            }
        }
    }

    @Test
    void shouldServeEverythingWhenAnIndexIsDamaged() throws IOException {
        for (int segment = 0; segment < BATCHES / BATCHES_EACH; segment++) {
            String name = segmentFile(segment, ".index");
            List<byte[]> contents = new ArrayList<>(Arrays.asList(
                    null, new byte[0], half(name), healthy.get(segmentFile((segment + 1) % 3, ".index"))));
            for (int at = 0; at < healthy.get(name).length; at++) {
                contents.add(flipped(name, at, 0x40));
            }
            long first = (long) segment * BATCHES_EACH;
            for (byte[] content : contents) {
                damage(name, content);
                try (Journal journal = open()) {
                    assertThat(readAll(journal, first + 2)).isEqualTo(offsets(first + 2, BATCHES));
                    assertThat(findByTimestamp(journal, 1_000 + first + 2).offset())
                            .isEqualTo(first + 2);
                    assertNamed(name);
                }
            }
        }
    }

    @Test
    void shouldServeEverythingWhenTheCheckpointIsDamaged() throws IOException {
        String name = JournalCheckpoint.FILE_NAME;
        List<byte[]> contents =
                new ArrayList<>(List.of(new byte[0], half(name), healthy.get(segmentFile(0, ".index"))));
        for (int at = 0; at < healthy.get(name).length; at++) {
            contents.add(flipped(name, at, 0x02));
        }
        for (byte[] content : contents) {
            damage(name, content);
            try (Journal journal = open()) {
                assertThat(readAll(journal, 0)).isEqualTo(offsets(0, BATCHES));
                assertNamed(name);
            }
        }
        damage(name, null);
        try (Journal journal = open()) {
            assertThat(readAll(journal, 0)).isEqualTo(offsets(0, BATCHES));
        }
    }

    @Test
    void shouldGoOnWhereTheLogEndedWhenABitOfTheCheckpointIsFlippedAndRetentionHasDeletedAllRecords()
            throws IOException {
        // given
        store = new MemoryFileStore();
        try (Journal journal = open()) {
            append(journal, BATCHES, 1, 60);
            journal.flush();
            journal.setConfig(CONFIG.withRetention(1, -1));
            journal.applyRetention(Long.MAX_VALUE / 2, BATCHES);
        }
        healthy = contents();
        assertThat(healthy.keySet()).noneMatch(name -> name.endsWith(".log"));
        String name = JournalCheckpoint.FILE_NAME;
        for (int bit = 0; bit < healthy.get(name).length * Byte.SIZE; bit++) {

            // when
            damage(name, flipped(name, bit / Byte.SIZE, 1 << bit % Byte.SIZE));

            // then no offset is used again
            try (Journal journal = open()) {
                assertThat(journal.endOffset()).as("bit %d", bit).isEqualTo(BATCHES);
                assertNamed(name);
            }
        }
    }

    @Test
    void shouldTakeAnOlderSnapshotWhenTheNewestIsDamaged() throws IOException {
        String name = String.format("%020d.snapshot", BATCHES);
        String older = String.format("%020d.snapshot", BATCHES - 2);
        List<byte[]> contents = new ArrayList<>(Arrays.asList(null, new byte[0], half(name), healthy.get(older)));
        for (int at = 0; at < healthy.get(name).length; at++) {
            contents.add(flipped(name, at, 0x04));
        }
        for (byte[] content : contents) {
            damage(name, content);
            try (Journal journal = open()) {
                assertThat(journal.derivedState().restoreSnapshot().offset()).isEqualTo(BATCHES - 2);
                if (content != null) {
                    assertNamed(name);
                }
            }
        }
    }

    @Test
    void shouldTakeNoSnapshotWhoseIndexOfTransactionsIsDamaged() throws IOException {
        String name = healthy.keySet().stream()
                .filter(file -> file.endsWith(TransactionIndexFile.SUFFIX))
                .findFirst()
                .orElseThrow();
        String other = healthy.keySet().stream()
                .filter(file -> file.endsWith(TransactionIndexFile.SUFFIX))
                .reduce((first, second) -> second)
                .orElseThrow();
        assertThat(other).isNotEqualTo(name);
        List<byte[]> contents = new ArrayList<>(Arrays.asList(null, new byte[0], half(name), healthy.get(other)));
        for (int at = 0; at < healthy.get(name).length; at++) {
            contents.add(flipped(name, at, 0x08));
        }
        for (byte[] content : contents) {
            damage(name, content);
            try (Journal journal = open()) {
                // without a snapshot everything is added again from the journal's beginning
                assertThat(journal.derivedState().restoreSnapshot()).isNull();
                assertNamed(name);
            }
        }
    }

    @Test
    void shouldKeepWhatFollowsAnUnreadableHeaderWhenNoCheckpointVouchesForIt() throws IOException {
        // given a misdirected write into the second batch of the newest segment, including its length
        String name = segmentFile(2, ".log");
        int batchBytes = healthy.get(name).length / BATCHES_EACH;
        byte[] content = healthy.get(name).clone();
        Arrays.fill(content, batchBytes, batchBytes + 40, (byte) 0x5A);
        damage(name, content);
        store.delete(DIRECTORY.resolve(JournalCheckpoint.FILE_NAME));

        // when
        try (Journal journal = open()) {
            // then the next batch has the correct offset and epoch
            List<Long> left = new ArrayList<>(offsets(0, 3 * BATCHES_EACH));
            left.remove(2 * BATCHES_EACH + 1); // the batch at that index
            assertThat(readAll(journal, 0)).isEqualTo(left);
            assertNamed(name);
        }
    }

    @Test // seed 5356787
    void shouldKeepWhatFollowsABatchThatWasWrittenToTheWrongPositionWhenThereIsNoCheckpoint() throws IOException {
        // given a write of the last batch of the oldest segment that also went into the first two batches
        String name = segmentFile(0, ".log");
        byte[] content = healthy.get(name).clone();
        int batchBytes = content.length / BATCHES_EACH;
        System.arraycopy(content, 3 * batchBytes, content, 10, batchBytes);
        damage(name, content);
        store.delete(DIRECTORY.resolve(JournalCheckpoint.FILE_NAME));

        // when
        try (Journal journal = open()) {
            // then
            assertThat(readAll(journal, 0)).isEqualTo(offsets(2, BATCHES));
            assertNamed(name);
        }
    }

    @Test
    void shouldNotTakeABatchOutOfAValueWhereverTheBatchAroundItIsTorn() throws IOException {
        // given a last batch whose value is a batch with the next offset, and whose header is lost
        String name = segmentFile(2, ".log");
        byte[] inner = Arrays.copyOf(healthy.get(name), healthy.get(name).length / BATCHES_EACH);
        ByteBuffer.wrap(inner).putLong(0, BATCHES + 1);
        byte[] before = healthy.get(name);
        int innerAt = before.length + 70;
        for (int tornAt : new int[] {innerAt + inner.length - 1, innerAt + inner.length, innerAt + inner.length + 1}) {
            byte[] content = Arrays.copyOf(before, tornAt);
            System.arraycopy(inner, 0, content, innerAt, Math.min(inner.length, tornAt - innerAt));
            damage(name, content);

            // when
            try (Journal journal = open()) {
                // then
                assertThat(journal.writtenOffset()).as("torn at " + tornAt).isEqualTo(BATCHES);
                assertThat(readAll(journal, 0)).isEqualTo(offsets(0, BATCHES));
            }
        }
    }

    @Test
    void shouldRefuseToReadWhatContradictsTheCheckpoint() throws IOException {
        String name = segmentFile(0, ".log");
        damage(name, healthy.get(segmentFile(1, ".log")));
        try (Journal journal = open()) {
            assertThatThrownBy(() -> readAll(journal, 1))
                    .isInstanceOf(CorruptJournalException.class)
                    .hasMessageContaining(name + " at byte ");
        }
    }
}
