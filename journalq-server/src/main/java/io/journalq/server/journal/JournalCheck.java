package io.journalq.server.journal;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentState;
import io.journalq.server.journal.segment.SegmentSwap;
import io.journalq.server.journal.segment.SparseIndex;
import io.journalq.server.journal.transaction.TransactionIndexFile;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Checks every file of one journal that no broker has open: names, sizes, CRCs and offsets, byte by byte, and whether
 * the files agree with each other. Changes nothing. Single use; blocks.
 */
public final class JournalCheck {
    /** Name of the checkpoint file, which records how much of the journal is durable. */
    public static final String CHECKPOINT_FILE_NAME = JournalCheckpoint.FILE_NAME;

    /** Suffixes of files that a crash may leave behind. The next start deletes them or completes the operation. */
    private static final List<String> LEFT_OVER = List.of(
            SystemFileStore.TEMPORARY_SUFFIX,
            Segment.DELETED_SUFFIX,
            SegmentSwap.CLEANED_SUFFIX,
            SegmentSwap.SWAP_SUFFIX,
            JournalFlusher.FENCE_FILE_NAME);

    private static final String NAME_OF_A_FILE = "\\d{20}\\.(log|tail|index|snapshot|txnindex)";

    private final FileStore store;
    private final Path directory;
    private final List<JournalFinding> findings = new ArrayList<>();
    /** End position of the batches of each segment, by base offset. */
    private final TreeMap<Long, Integer> segments = new TreeMap<>();

    private long batches;
    private long records;
    private long sizeBytes;
    private long endOffset;

    private JournalCheck(FileStore store, Path directory) {
        this.store = store;
        this.directory = directory;
    }

    /**
     * The content of a journal.
     *
     * @param startOffset of its first segment
     * @param endOffset behind its last healthy batch
     * @param findings the problems found, in the order of file names; empty for a healthy journal
     */
    public record Report(
            Path directory,
            int segments,
            long batches,
            long records,
            long sizeBytes,
            long startOffset,
            long endOffset,
            List<JournalFinding> findings) {}

    /** Whether a directory holds a journal or the remains of one. */
    public static boolean isJournal(FileStore store, Path directory) throws IOException {
        return store.list(directory).stream()
                .anyMatch(name -> name.matches(NAME_OF_A_FILE) || name.equals(JournalCheckpoint.FILE_NAME));
    }

    /** The offset at the beginning of a segment file's name; -1 if it is not such a name. */
    public static long baseOffsetOf(Path log) {
        String name = log.getFileName().toString();
        if (!name.matches(NAME_OF_A_FILE)) {
            return -1;
        }
        try {
            return Long.parseLong(name.substring(0, name.indexOf('.')));
        } catch (NumberFormatException beyondLong) {
            return -1;
        }
    }

    /**
     * Number of bytes of a segment that the journal's checkpoint lists as durable; 0 if there is no checkpoint that
     * lists the segment.
     */
    public static int flushedBytes(FileStore store, Path log) throws IOException {
        Path directory = log.getParent();
        if (!store.list(directory).contains(JournalCheckpoint.FILE_NAME)) {
            return 0;
        }
        Path file = directory.resolve(JournalCheckpoint.FILE_NAME);
        SegmentState segment = JournalCheckpoint.decode(file, store.read(file, JournalCheckpoint.MAX_FILE_SIZE_BYTES))
                .segment(baseOffsetOf(log));
        return segment == null ? 0 : segment.extent().sizeBytes();
    }

    /** The state in a snapshot file. */
    public static ByteBuffer snapshotState(FileStore store, Path file) throws IOException {
        return ProducerSnapshots.decode(
                        file, store.read(file, ProducerSnapshots.MAX_SNAPSHOT_SIZE_BYTES), baseOffsetOf(file))
                .snapshot()
                .state();
    }

    /** Checks a journal. */
    public static Report run(FileStore store, Path directory) throws IOException {
        JournalCheck check = new JournalCheck(store, directory);
        check.check();
        return new Report(
                directory,
                check.segments.size(),
                check.batches,
                check.records,
                check.sizeBytes,
                check.segments.isEmpty() ? 0 : check.segments.firstKey(),
                check.endOffset,
                List.copyOf(check.findings));
    }

    private void check() throws IOException {
        List<String> names = store.list(directory);
        for (String name : names) {
            Path file = directory.resolve(name);
            if (Segment.isLog(name) && baseOffsetOf(file) >= 0) {
                segments.put(baseOffsetOf(file), 0);
            }
        }
        for (String name : names) {
            checkFile(name, directory.resolve(name));
        }
    }

    private void checkFile(String name, Path file) throws IOException {
        if (LEFT_OVER.stream().anyMatch(name::endsWith)) {
            return;
        }
        if (name.equals(JournalCheckpoint.FILE_NAME)) {
            // The checkpoint's name sorts behind the names of all segments.
            checkCheckpoint(file);
        } else if (baseOffsetOf(file) < 0) {
            stray(file, "not a file name of a journal");
        } else if (Segment.isLog(name)) {
            checkSegment(file, baseOffsetOf(file));
        } else if (name.endsWith(ProducerSnapshots.FILE_SUFFIX)) {
            derived(
                    file,
                    () -> ProducerSnapshots.decode(
                            file, store.read(file, ProducerSnapshots.MAX_SNAPSHOT_SIZE_BYTES), baseOffsetOf(file)));
        } else if (name.endsWith(TransactionIndexFile.SUFFIX)) {
            // Compaction may have merged its segment into the one before.
            derived(
                    file,
                    () -> TransactionIndexFile.decode(
                            file, store.read(file, TransactionIndexFile.MAX_SIZE_BYTES), baseOffsetOf(file)));
        } else if (!segments.containsKey(baseOffsetOf(file))) {
            stray(file, "index without a segment");
        }
    }

    private void checkSegment(Path log, long baseOffset) throws IOException {
        if (isTail(baseOffset) && endOffset < baseOffset) {
            add(
                    log,
                    0,
                    0,
                    JournalFinding.Kind.CUT_OFF,
                    "begins at offset " + baseOffset + ", but the segment before it ends at offset " + endOffset
                            + "; nothing in this segment was synced");
            return;
        }
        Long nextSegment = segments.higherKey(baseOffset);
        boolean mayBeTorn = nextSegment == null || isTail(nextSegment);
        Map<Integer, Long> begins = new HashMap<>();
        long[] next = {baseOffset};
        int end = SegmentScan.read(store, log, baseOffset, new SegmentScan.Visitor() {
            @Override
            public void onBatch(int position, ByteBuf header, SegmentScan.Reader whole) {
                batches++;
                records += RecordBatch.recordCount(header, 0);
                begins.put(position, RecordBatch.baseOffset(header, 0));
                next[0] = RecordBatch.nextOffset(header, 0);
                if (nextSegment != null && next[0] > nextSegment) {
                    add(
                            log,
                            position,
                            position + 1L,
                            JournalFinding.Kind.BAD_STRETCH,
                            "a batch ends at offset " + next[0] + ", and the next segment begins at " + nextSegment);
                }
            }

            @Override
            public void onBadBytes(int position, int endPosition) throws IOException {
                boolean tail = mayBeTorn && endPosition == store.sizeBytes(log);
                add(
                        log,
                        position,
                        endPosition,
                        tail ? JournalFinding.Kind.TORN_TAIL : JournalFinding.Kind.BAD_STRETCH,
                        (endPosition - position) + " bytes up to byte " + endPosition
                                + " hold no healthy batch; the offset before them is " + next[0]);
            }
        });
        segments.put(baseOffset, end);
        sizeBytes += end;
        endOffset = Math.max(endOffset, next[0]);
        checkIndex(directory.resolve(Segment.fileName(baseOffset, SparseIndex.FILE_SUFFIX)), baseOffset, end, begins);
    }

    private boolean isTail(long baseOffset) throws IOException {
        return store.list(directory).contains(Segment.fileName(baseOffset, Segment.TAIL_SUFFIX));
    }

    private void checkIndex(Path file, long baseOffset, int segmentBytes, Map<Integer, Long> begins)
            throws IOException {
        if (!store.list(directory).contains(file.getFileName().toString())) {
            // It is rebuilt when it is needed.
            return;
        }
        derived(file, () -> {
            SparseIndex index = SparseIndex.decode(
                    file, store.read(file, SparseIndex.MAX_FILE_SIZE_BYTES), baseOffset, 0, Integer.MAX_VALUE);
            index.forEach((offset, position) -> {
                if (position < segmentBytes && !Long.valueOf(offset).equals(begins.get(position))) {
                    add(
                            file,
                            0,
                            0,
                            JournalFinding.Kind.BAD_DERIVED_FILE,
                            "lists a batch of offset " + offset + " at byte " + position + ", where no batch begins");
                }
            });
        });
    }

    private void checkCheckpoint(Path file) throws IOException {
        derived(file, () -> {
            JournalCheckpoint checkpoint =
                    JournalCheckpoint.decode(file, store.read(file, JournalCheckpoint.MAX_FILE_SIZE_BYTES));
            for (SegmentState segment : checkpoint.segments()) {
                long baseOffset = segment.extent().baseOffset();
                int flushedBytes = segment.extent().sizeBytes();
                Path log = directory.resolve(Segment.fileName(baseOffset, Segment.LOG_SUFFIX));
                if (!segments.containsKey(baseOffset)) {
                    // Retention deletes the oldest segments before it updates the checkpoint.
                    if (flushedBytes > 0 && (segments.isEmpty() || baseOffset > segments.firstKey())) {
                        add(
                                log,
                                0,
                                0,
                                JournalFinding.Kind.MISSING_DATA,
                                "missing; according to the checkpoint it holds "
                                        + flushedBytes + " bytes up to offset "
                                        + segment.extent().endOffset());
                    }
                } else if (segments.get(baseOffset) < flushedBytes) {
                    add(
                            log,
                            0,
                            0,
                            JournalFinding.Kind.MISSING_DATA,
                            "its batches end at byte "
                                    + segments.get(baseOffset) + "; according to the checkpoint " + flushedBytes
                                    + " bytes were flushed");
                }
            }
        });
    }

    /** A check that reads a file, and may throw. */
    private interface Reading {
        void run() throws IOException;
    }

    private void derived(Path file, Reading reading) throws IOException {
        try {
            reading.run();
        } catch (CorruptJournalException bad) {
            String words = bad.getMessage();
            add(
                    file,
                    0,
                    0,
                    JournalFinding.Kind.BAD_DERIVED_FILE,
                    words.substring(file.toString().length()).strip());
        }
    }

    private void stray(Path file, String what) {
        add(file, 0, 0, JournalFinding.Kind.STRAY_FILE, what);
    }

    private void add(Path file, long position, long endPosition, JournalFinding.Kind kind, String what) {
        findings.add(new JournalFinding(file, position, endPosition, kind, what));
    }
}
