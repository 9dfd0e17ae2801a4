package io.journalq.server.journal;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.journal.segment.EpochCheck;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.journal.segment.RecoveryRules;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentRecovery;
import io.journalq.server.journal.segment.SegmentState;
import io.journalq.server.journal.segment.SegmentState.SegmentExtent;
import io.journalq.server.journal.segment.SegmentSwap;
import io.journalq.server.journal.segment.SparseIndex;
import io.journalq.server.journal.segment.TornWrite;
import io.journalq.server.journal.transaction.TransactionIndex;
import io.journalq.server.journal.transaction.TransactionIndexFile;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds a journal's segments and where each really ends. A segment that has the size given by the checkpoint is trusted
 * and not even opened. Any other segment is read from where the checkpoint ends, or from the beginning. If a power loss
 * took the end of a segment, the segments behind it are deleted too. One thread; blocks.
 */
final class JournalRecovery {
    private static final Logger LOG = LoggerFactory.getLogger(JournalRecovery.class);

    private final FileStore store;
    private final Path directory;
    private final JournalConfig config;
    private final RecoveryRules rules;

    private final LeaderEpochs epochs = new LeaderEpochs();
    private final EpochCheck epochCheck;
    private final ProducerSnapshots snapshots;
    private final TransactionIndex transactions;
    /** Segments with bytes that no checkpoint covers. */
    private final List<Segment> unvouched = new ArrayList<>();
    /** Base offsets of the segments that were not settled. */
    private final Set<Long> tails = new HashSet<>();
    /** Base offset of the newest settled segment. */
    private long settledBaseOffset = -1;
    /**
     * Segments were deleted because a power loss had taken the end of the segment before them, or because the log begins
     * behind them.
     */
    private boolean cutOff;
    /** A sync failed in the previous process. */
    private boolean fenced;

    JournalRecovery(FileStore store, Path directory, JournalConfig config, int newestLeaderEpoch, RecoveryRules rules) {
        this.rules = rules;
        this.store = store;
        this.directory = directory;
        this.config = config;
        this.epochCheck = new EpochCheck(epochs, newestLeaderEpoch);
        this.snapshots = new ProducerSnapshots(store, directory);
        this.transactions = new TransactionIndex(store, directory);
    }

    /**
     * The result of recovery.
     *
     * @param segments at least one, in ascending order
     * @param compactedOffset records before this were compacted at least once
     * @param flushedOffset records before this are durable
     * @param highWatermark as stored, and behind the end of the log if records are missing. The start of the log if there
     *     is no checkpoint
     * @param unvouched whether there was more than the checkpoint covers
     */
    @SuppressWarnings("ArrayRecordComponent") // A plain holder, never compared.
    record Recovered(
            Segment[] segments,
            long startOffset,
            long compactedOffset,
            long flushedOffset,
            long highWatermark,
            LeaderEpochs epochs,
            ProducerSnapshots snapshots,
            TransactionIndex transactions,
            boolean unvouched) {
        Recovered flushed() {
            long endOffset = segments[segments.length - 1].endOffset();
            return new Recovered(
                    segments,
                    startOffset,
                    compactedOffset,
                    endOffset,
                    highWatermark,
                    epochs,
                    snapshots,
                    transactions,
                    true);
        }
    }

    Recovered run() throws IOException {
        List<String> names = store.list(directory);
        List<Long> baseOffsets = sort(names);
        JournalCheckpoint checkpoint = names.contains(JournalCheckpoint.FILE_NAME) ? readCheckpoint() : null;
        List<SegmentSwap.Interrupted> swaps = SegmentSwap.interrupted(directory, names);
        if (!swaps.isEmpty()) {
            checkpoint = completeSwaps(swaps, baseOffsets, checkpoint);
        }
        if (swaps.isEmpty()) {
            deleteOrphanedIndexes(names, baseOffsets);
        }
        if (checkpoint != null) {
            epochs.reset(checkpoint.epochs());
        }
        reportMissing(baseOffsets, checkpoint);
        Segment[] segments = recoverSegments(baseOffsets, checkpoint);
        epochCheck.finish();
        Recovered recovered = recovered(segments, checkpoint);
        boolean dropped = snapshots.truncateTo(segments[segments.length - 1].endOffset());
        boolean repaired = dropped || cutOff || fenced || !unvouched.isEmpty();
        return repaired ? madeDurable(recovered) : recovered;
    }

    /** Finds damage behind the newest snapshot without changing anything; see {@link Journal#openWhole}. */
    static void checkWhole(FileStore store, Path directory) throws IOException {
        JournalRecovery recovery =
                new JournalRecovery(store, directory, JournalConfig.DEFAULT, Integer.MAX_VALUE, RecoveryRules.ALONE);
        List<String> names = store.list(directory);
        JournalCheckpoint checkpoint = names.contains(JournalCheckpoint.FILE_NAME) ? recovery.readCheckpoint() : null;
        if (checkpoint != null) {
            recovery.checkSizes(names, checkpoint);
        }
        recovery.checkBatches(names, checkpoint);
    }

    private void checkSizes(List<String> names, JournalCheckpoint checkpoint) throws IOException {
        String first = names.stream().filter(Segment::isLog).findFirst().orElse("");
        for (SegmentState state : checkpoint.segments()) {
            SegmentExtent extent = state.extent();
            String name = Segment.fileName(extent.baseOffset(), Segment.LOG_SUFFIX);
            if (extent.sizeBytes() == 0 || name.compareTo(first) < 0) {
                continue; // The first segments were deleted on purpose.
            }
            Path file = directory.resolve(name);
            long fileBytes = names.contains(name) ? store.sizeBytes(file) : 0;
            if (fileBytes < extent.sizeBytes()) {
                throw new CorruptJournalException(
                        file,
                        fileBytes,
                        "missing or truncated: it held " + extent.sizeBytes() + " bytes, up to offset "
                                + (extent.endOffset() - 1) + "; restore the directory from a backup");
            }
        }
    }

    /**
     * Checks the batches. Every append was synced before the next, so only the last batch may be torn, and only if no
     * checkpoint covers it.
     */
    private void checkBatches(List<String> names, JournalCheckpoint checkpoint) throws IOException {
        List<Path> logs = new ArrayList<>();
        for (String name : names) {
            if (name.endsWith(ProducerSnapshots.FILE_SUFFIX)) {
                snapshots.found(offsetIn(name, ProducerSnapshots.FILE_SUFFIX), name);
            } else if (Segment.isLog(name) && JournalCheck.baseOffsetOf(directory.resolve(name)) >= 0) {
                logs.add(directory.resolve(name));
            }
        }
        ProducerSnapshots.Stored newest = snapshots.latest(Long.MAX_VALUE);
        WholeCheck check = new WholeCheck(newest == null ? 0 : newest.snapshot().offset());
        for (Path log : logs) {
            long baseOffset = JournalCheck.baseOffsetOf(log);
            SegmentState flushed = checkpoint == null ? null : checkpoint.segment(baseOffset);
            check.begin(log, baseOffset);
            int end = SegmentScan.read(store, log, baseOffset, check);
            check.end(end, flushed == null ? 0 : flushed.extent().sizeBytes());
        }
        if (check.badLog != null && isWholeButDamaged(check)) {
            throw check.refusal(check.badLog, check.badPosition);
        }
    }

    /** Whether the bad bytes at the end are a batch that was completely written. */
    private boolean isWholeButDamaged(WholeCheck check) throws IOException {
        int fileBytes = (int) store.sizeBytes(check.badLog);
        ByteBuffer header = ByteBuffer.allocate(RecordBatch.HEADER_SIZE_BYTES);
        try (LogFile file = store.open(check.badLog, false)) {
            file.read(header, check.badPosition);
            ByteBuf batch = Unpooled.wrappedBuffer(header.array());
            return check.badPosition + RecordBatch.sizeBytes(batch, 0) == fileBytes
                    && (!mayHaveLostPower()
                            || !TornWrite.explains(file, check.badPosition, fileBytes, batch, check.nextOffset));
        }
    }

    /** Rejects a log that lacks a durable batch, unless a snapshot covers that batch. */
    private static final class WholeCheck implements SegmentScan.Visitor {
        private final long snapshotOffset;
        private Path log;
        private long nextOffset = -1;

        /** The file of the most recent bad bytes, if no batch was found behind them yet; null if there are none. */
        private Path badLog;

        private int badPosition;

        WholeCheck(long snapshotOffset) {
            this.snapshotOffset = snapshotOffset;
        }

        void begin(Path nextLog, long baseOffset) {
            log = nextLog;
            nextOffset = nextOffset < 0 ? baseOffset : nextOffset;
        }

        @Override
        public void onBatch(int position, ByteBuf header, SegmentScan.Reader whole) throws IOException {
            long offset = RecordBatch.baseOffset(header, 0);
            if (offset > nextOffset && offset > snapshotOffset) {
                throw badLog == null ? refusal(log, position) : refusal(badLog, badPosition);
            }
            badLog = null;
            nextOffset = RecordBatch.nextOffset(header, 0);
        }

        @Override
        public void onBadBytes(int position, int endPosition) {
            if (badLog == null) {
                badLog = log;
                badPosition = position;
            }
        }

        void end(int position, int flushedBytes) throws IOException {
            boolean badHere = badLog != null && badLog.equals(log);
            int healthyBytes = badHere ? badPosition : position;
            if (healthyBytes < flushedBytes) {
                throw refusal(log, healthyBytes);
            }
        }

        private CorruptJournalException refusal(Path file, int position) {
            return new CorruptJournalException(
                    file,
                    position,
                    "damaged at offset " + nextOffset + ", and later records cannot be used without it; restore the"
                            + " directory from a backup, or go back to the newest snapshot and the changes between it"
                            + " and the damage with: bin/journalq journal repair " + file.getParent() + " --execute");
        }
    }

    /** Deletes leftover files and returns the base offsets of the logs. */
    private List<Long> sort(List<String> names) throws IOException {
        List<Long> baseOffsets = new ArrayList<>();
        for (String name : names) {
            if (name.endsWith(SystemFileStore.TEMPORARY_SUFFIX)
                    || name.endsWith(Segment.DELETED_SUFFIX)
                    || name.endsWith(SegmentSwap.CLEANED_SUFFIX)) {
                store.delete(directory.resolve(name));
            } else if (name.equals(JournalFlusher.FENCE_FILE_NAME)) {
                fenced = true;
            } else if (name.endsWith(Segment.LOG_SUFFIX)) {
                long baseOffset = offsetIn(name, Segment.LOG_SUFFIX);
                if (baseOffset >= 0) {
                    baseOffsets.add(baseOffset);
                    settledBaseOffset = baseOffset;
                }
            } else if (name.endsWith(Segment.TAIL_SUFFIX)) {
                long baseOffset = offsetIn(name, Segment.TAIL_SUFFIX);
                if (baseOffset >= 0 && !baseOffsets.contains(baseOffset)) {
                    baseOffsets.add(baseOffset);
                    tails.add(baseOffset);
                }
            } else if (name.endsWith(ProducerSnapshots.FILE_SUFFIX)) {
                snapshots.found(offsetIn(name, ProducerSnapshots.FILE_SUFFIX), name);
            } else if (name.endsWith(TransactionIndexFile.SUFFIX)) {
                transactions.found(offsetIn(name, TransactionIndexFile.SUFFIX));
            }
        }
        return baseOffsets;
    }

    /** Deletes the indexes of segments that were removed: a new segment may get the same name. */
    private void deleteOrphanedIndexes(List<String> names, List<Long> baseOffsets) throws IOException {
        Set<Long> known = new HashSet<>(baseOffsets);
        for (String name : names) {
            if (name.endsWith(SparseIndex.FILE_SUFFIX) && !known.contains(offsetIn(name, SparseIndex.FILE_SUFFIX))) {
                store.delete(directory.resolve(name));
            }
        }
    }

    /** Completes interrupted swaps. The checkpoint must not apply the state of the replaced file to the new one. */
    private JournalCheckpoint completeSwaps(
            List<SegmentSwap.Interrupted> swaps, List<Long> baseOffsets, JournalCheckpoint checkpoint)
            throws IOException {
        JournalCheckpoint left = checkpoint == null ? null : checkpoint.without(swaps);
        if (left != null) {
            store.replace(directory.resolve(JournalCheckpoint.FILE_NAME), left.encode(), true);
        }
        for (SegmentSwap.Interrupted swap : swaps) {
            LOG.info("{}: completing an interrupted compaction", swap.file());
            swap.complete(store, directory, baseOffsets);
            baseOffsets.removeIf(swap::covers);
            baseOffsets.add(swap.baseOffset());
        }
        Collections.sort(baseOffsets);
        return left;
    }

    /**
     * Syncs everything that the previous process wrote or this recovery repaired, before the journal is used. Otherwise
     * a power loss could remove data that a client has already read or built upon.
     */
    private Recovered madeDurable(Recovered recovered) throws IOException {
        try {
            for (Segment segment : unvouched) {
                segment.file().sync();
            }
            syncParent();
            store.syncDirectory(directory);
            if (!tails.isEmpty()) {
                for (Segment segment : recovered.segments()) {
                    segment.settle();
                }
                store.syncDirectory(directory);
            }
        } catch (SyncNotBegunException nothingIsLost) {
            throw nothingIsLost;
        } catch (IOException failure) {
            JournalFlusher.leaveFence(store, directory, failure);
            throw failure;
        }
        if (fenced) {
            store.delete(directory.resolve(JournalFlusher.FENCE_FILE_NAME));
        }
        return recovered.flushed();
    }

    private void syncParent() throws IOException {
        if (directory.getParent() != null) {
            store.syncDirectory(directory.getParent());
        }
    }

    /** The offset at the beginning of a file's name; -1 if it is not such a name. */
    private static long offsetIn(String name, String suffix) {
        String digits = name.substring(0, name.length() - suffix.length());
        if (digits.length() == Segment.OFFSET_DIGITS && isNumber(digits)) {
            try {
                return Long.parseLong(digits);
            } catch (NumberFormatException beyondLong) {
                LOG.debug("{} does not begin with an offset", name);
            }
        }
        LOG.warn("{} is not a file name of this journal; ignoring it", name);
        return -1;
    }

    private static boolean isNumber(String digits) {
        for (int i = 0; i < digits.length(); i++) {
            if (digits.charAt(i) < '0' || digits.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    private JournalCheckpoint readCheckpoint() throws IOException {
        Path file = directory.resolve(JournalCheckpoint.FILE_NAME);
        try {
            return JournalCheckpoint.decodeCorrected(file, store.read(file, JournalCheckpoint.MAX_FILE_SIZE_BYTES));
        } catch (CorruptJournalException bad) {
            LOG.error("{}; checking every batch of this journal instead", bad.getMessage());
            return null;
        }
    }

    private Segment[] recoverSegments(List<Long> baseOffsets, JournalCheckpoint checkpoint) throws IOException {
        if (baseOffsets.isEmpty()) {
            return new Segment[] {emptySegment(checkpoint)};
        }
        if (areBeforeTheStart(baseOffsets, checkpoint)) {
            deleteAll(baseOffsets);
            return new Segment[] {emptySegment(checkpoint)};
        }
        if (baseOffsets.get(0) > settledBaseOffset) {
            Segment empty = emptySegment(checkpoint);
            cutOff(empty.baseOffset(), baseOffsets);
            return new Segment[] {empty};
        }
        List<Segment> segments = new ArrayList<>(baseOffsets.size());
        for (int i = 0; i < baseOffsets.size() && !cutOff; i++) {
            boolean newest = i == baseOffsets.size() - 1;
            long next = newest ? Long.MAX_VALUE : baseOffsets.get(i + 1);
            SegmentRecovery.Position place = newest
                    ? SegmentRecovery.Position.NEWEST
                    : next > settledBaseOffset
                            ? SegmentRecovery.Position.BEFORE_A_TAIL
                            : SegmentRecovery.Position.SYNCED;
            Segment segment = recoverSegment(baseOffsets.get(i), place, next, checkpoint);
            segments.add(segment);
            boolean beforeTail = place == SegmentRecovery.Position.BEFORE_A_TAIL;
            if (beforeTail && segment.endOffset() < next && mayHaveLostPower()) {
                cutOff(segment.endOffset(), baseOffsets.subList(i + 1, baseOffsets.size()));
            }
        }
        SegmentExtent written = newestIn(checkpoint);
        boolean gone = written != null && written.baseOffset() > baseOffsets.get(baseOffsets.size() - 1);
        if (gone && written.endOffset() > segments.get(segments.size() - 1).endOffset()) {
            // Either all remaining segments were about to be deleted when the power was lost, or the newest file is
            // missing.
            segments.add(emptySegment(checkpoint));
        }
        return segments.toArray(Segment[]::new);
    }

    /**
     * Whether the log has no records according to the checkpoint, and begins behind all segments: their deletion was
     * interrupted.
     */
    private static boolean areBeforeTheStart(List<Long> baseOffsets, JournalCheckpoint checkpoint) {
        SegmentExtent newest = newestIn(checkpoint);
        return newest != null
                && newest.sizeBytes() == 0
                && checkpoint.startOffset() >= newest.baseOffset()
                && newest.baseOffset() > baseOffsets.get(baseOffsets.size() - 1);
    }

    private void deleteAll(List<Long> baseOffsets) throws IOException {
        cutOff = true;
        for (long baseOffset : baseOffsets) {
            Path log = tails.contains(baseOffset)
                    ? Segment.tailPath(directory, baseOffset)
                    : Segment.logPath(directory, baseOffset);
            LOG.info("{}: deleting it: the log begins behind it, and its deletion was interrupted", log);
            store.delete(log);
            store.delete(directory.resolve(Segment.fileName(baseOffset, SparseIndex.FILE_SUFFIX)));
        }
    }

    /** Deletes segments without acknowledged records. Without the records before them they would leave a gap. */
    private void cutOff(long endOffset, List<Long> baseOffsets) throws IOException {
        cutOff = true;
        for (long baseOffset : baseOffsets) {
            Path log = Segment.tailPath(directory, baseOffset);
            LOG.warn(
                    "{}: deleting {} bytes from offset {} on: the records before them are lost from offset {} on, and"
                            + " neither was synced",
                    log,
                    store.sizeBytes(log),
                    baseOffset,
                    endOffset);
            store.delete(log);
            store.delete(directory.resolve(Segment.fileName(baseOffset, SparseIndex.FILE_SUFFIX)));
        }
    }

    /**
     * Logs each segment that the checkpoint lists and that does not exist. Retention deleted those before the first one
     * that exists.
     */
    private void reportMissing(List<Long> baseOffsets, JournalCheckpoint checkpoint) {
        if (checkpoint == null || baseOffsets.isEmpty()) {
            return;
        }
        for (SegmentState state : checkpoint.segments()) {
            SegmentExtent extent = state.extent();
            if (extent.sizeBytes() > 0
                    && extent.baseOffset() > baseOffsets.get(0)
                    && !baseOffsets.contains(extent.baseOffset())) {
                LOG.error(
                        "{} is missing, with offsets {} to {}; restore it from a backup while the broker is stopped",
                        Segment.logPath(directory, extent.baseOffset()),
                        extent.baseOffset(),
                        extent.endOffset() - 1);
            }
        }
    }

    /**
     * Creates a segment if there is no newest log file: either the journal is new, or everything was deleted and the
     * checkpoint says at which offset the log continues.
     */
    private Segment emptySegment(JournalCheckpoint checkpoint) {
        SegmentExtent written = newestIn(checkpoint);
        long baseOffset = written == null ? 0 : written.endOffset();
        if (written != null && written.sizeBytes() > 0) {
            LOG.error("{}: the newest log file is missing; the log continues at offset {}", directory, baseOffset);
        }
        return new Segment(store, directory, baseOffset, config.indexIntervalBytes());
    }

    /** The segment that was the newest when the checkpoint was written; null if the checkpoint lists none. */
    private static SegmentExtent newestIn(JournalCheckpoint checkpoint) {
        if (checkpoint == null || checkpoint.segments().isEmpty()) {
            return null;
        }
        return checkpoint.segments().get(checkpoint.segments().size() - 1).extent();
    }

    /** Whether the machine may have gone down since this journal was last recovered. */
    private boolean mayHaveLostPower() {
        // A failed sync may have dropped written data, as a power loss does.
        return fenced || !ShutdownMarker.isEverythingThere(store, directory.getParent());
    }

    private Segment recoverSegment(
            long baseOffset, SegmentRecovery.Position place, long nextOffset, JournalCheckpoint checkpoint)
            throws IOException {
        boolean tail = tails.contains(baseOffset);
        SegmentState state = checkpoint == null || tail ? null : checkpoint.segment(baseOffset);
        Path logPath = tail ? Segment.tailPath(directory, baseOffset) : Segment.logPath(directory, baseOffset);
        long fileBytes = store.sizeBytes(logPath);
        if (fileBytes > Integer.MAX_VALUE) {
            throw new CorruptJournalException(logPath, fileBytes, "too large for a segment");
        }
        if (state != null && fileBytes < state.extent().sizeBytes()) {
            LOG.error(
                    "{} holds {} bytes, but {} bytes were synced; checking the whole file",
                    logPath,
                    fileBytes,
                    state.extent().sizeBytes());
            state = null;
        }
        if (state != null && fileBytes == state.extent().sizeBytes() && !fenced) {
            return Segment.restored(store, directory, state, config.indexIntervalBytes());
        }
        Segment segment = state == null
                ? Segment.at(store, logPath, baseOffset, config.indexIntervalBytes())
                : Segment.restored(store, directory, state, config.indexIntervalBytes());
        new SegmentRecovery(segment, (int) fileBytes, place, nextOffset, epochCheck, this::mayHaveLostPower, rules)
                .run();
        segment.setWrittenFrom(segment.sizeBytes());
        if (fenced) {
            // The system may consider these bytes and the end of the file as synced although they are not. Writing them
            // again makes the next sync write them.
            segment.rewrite(state == null ? 0 : state.extent().sizeBytes());
        }
        unvouched.add(segment);
        return segment;
    }

    private Recovered recovered(Segment[] segments, JournalCheckpoint checkpoint) {
        long endOffset = segments[segments.length - 1].endOffset();
        long startOffset = segments[0].baseOffset();
        long flushedOffset = startOffset;
        long compactedOffset = 0;
        long highWatermark = 0;
        if (checkpoint != null) {
            highWatermark = checkpoint.highWatermark();
            compactedOffset = Math.min(endOffset, checkpoint.compactedOffset());
            startOffset = Math.max(startOffset, Math.min(endOffset, checkpoint.startOffset()));
            for (SegmentState state : checkpoint.segments()) {
                flushedOffset = Math.max(flushedOffset, state.extent().endOffset());
            }
        }
        epochs.truncateTo(endOffset);
        return new Recovered(
                segments,
                startOffset,
                compactedOffset,
                Math.min(flushedOffset, endOffset),
                Math.max(startOffset, highWatermark),
                epochs,
                snapshots,
                transactions,
                false);
    }
}
