package io.journalq.server.journal.compaction;

import io.journalq.common.record.BatchReader;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.compaction.CompactionJob.CompactionResult;
import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.segment.BatchScanner;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentBatches;
import io.journalq.server.journal.segment.SegmentSwap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * One compaction of a log. A pass records the newest offset of each key in the part that is not compacted yet, as far
 * as memory allows. It then rewrites the log from its beginning without superseded records, one group of segments at a
 * time, oldest first. Therefore no older value survives a newer one or a tombstone that was removed. Passes are
 * repeated until the whole log is compacted. One thread; blocks.
 */
public final class JournalCompaction {
    private static final int LOOK_CHUNK_BYTES = 4 << 10;

    private final FileStore store;
    private final CompactedLog log;
    private final CompactionJob job;
    private final BatchReader reader =
            new BatchReader(PooledByteBufAllocator.DEFAULT, SegmentBatches.MAX_DECOMPRESSED_BYTES, true);

    /** Offsets of the markers that the segment being written no longer has. */
    private final TreeSet<Long> goneMarkers = new TreeSet<>();

    private long readBytes;
    private long freedBytes;
    private int passes;

    public JournalCompaction(FileStore store, CompactedLog log, CompactionJob job) {
        this.store = store;
        this.log = log;
        this.job = job;
    }

    /** Compacts all segments that may be compacted now. */
    public CompactionResult run() throws IOException {
        log.completeSwap();
        while (!job.stopped().getAsBoolean()) {
            CompactableSegments work = CompactableSegments.of(log, job.stableOffset(), job.nowMs());
            // Retention may have deleted what was due.
            boolean isNothingDue = work.segments().isEmpty() || log.compactedOffset() >= work.endOffset();
            if (isNothingDue || !retain(work.segments())) {
                break;
            }
            long before = log.compactedOffset();
            try {
                pass(work);
            } catch (InvalidBatchException bad) {
                throw new IOException(log.directory() + ": " + bad.getMessage(), bad);
            } finally {
                work.segments().forEach(Segment::release);
            }
            if (log.compactedOffset() == before) {
                break; // The compaction was stopped or conflicts with retention, or transactions have not ended.
            }
        }
        return new CompactionResult(readBytes, freedBytes, passes);
    }

    private static boolean retain(List<Segment> segments) {
        List<Segment> held = new ArrayList<>();
        for (Segment segment : segments) {
            if (!segment.tryRetain()) {
                held.forEach(Segment::release);
                return false;
            }
            held.add(segment);
        }
        return true;
    }

    private void pass(CompactableSegments work) throws IOException {
        for (Segment segment : work.segments()) {
            int[] bad = segment.badRanges();
            if (bad.length > 0) {
                throw damaged(segment, bad[0]);
            }
        }
        long from = Math.max(log.compactedOffset(), work.segments().get(0).baseOffset());
        TransactionEnds ends = new TransactionEnds();
        long limit = Math.min(findEnds(from, work.endOffset(), ends), ends.firstOpenOffset());
        long upTo = noteKeys(work, from, limit, ends);
        if (upTo <= from || !log.keepDerivedState(job.owner())) {
            return;
        }
        passes++;
        CompactionRules rules = new CompactionRules(
                job.memory(),
                upTo,
                ends,
                job.lastBatchByProducer(),
                job.nowMs(),
                work.config().deleteRetentionMs());
        try (BatchCleaner cleaner = new BatchCleaner(rules, reader, PooledByteBufAllocator.DEFAULT)) {
            int segmentSizeBytes = log.segmentSizeBytes();
            for (List<Segment> group : work.groups(upTo, segmentSizeBytes)) {
                if (!clean(group, work, cleaner)) {
                    return;
                }
            }
        }
        log.compactedUpTo(upTo);
    }

    // ---- reading before anything is written

    /**
     * Finds which transactions were aborted. Returns the offset up to which this is known: {@code limit}, or less if
     * too many transactions were aborted, or the marker of one may be in a damaged range.
     */
    private long findEnds(long from, long limit, TransactionEnds ends) throws IOException {
        for (Segment segment : log.segments()) {
            if (segment.endOffset() <= from || (segment.baseOffset() >= limit && !ends.hasOpen())) {
                continue;
            }
            if (!segment.tryRetain()) {
                return from;
            }
            try {
                int start = segment.index().floorByOffset(from);
                int sizeBytes = segment.sizeBytes();
                int end = soundUntil(segment, start, sizeBytes);
                BatchScanner scanner = new BatchScanner(segment.file(), start, end, LOOK_CHUNK_BYTES);
                while (scanner.next()) {
                    if (ends.isFull()) {
                        return scanner.baseOffset();
                    }
                    if (scanner.nextOffset() > from) {
                        note(segment, scanner, limit, ends);
                    }
                }
                if (scanner.position() < sizeBytes) {
                    if (segment.baseOffset() < limit) {
                        throw damaged(segment, scanner.position());
                    }
                    // A later marker of a producer would be taken for that of an earlier transaction.
                    return Math.min(limit, ends.firstOpenOffset());
                }
            } finally {
                segment.release();
            }
        }
        return limit;
    }

    /** Where the first damaged range behind a position begins, as far as it is known. */
    private static int soundUntil(Segment segment, int from, int sizeBytes) {
        return segment.healthyFrom(from) == from ? segment.healthyUntil(from, sizeBytes) : from;
    }

    private static CorruptJournalException damaged(Segment segment, int position) {
        return new CorruptJournalException(segment.logPath(), position, "damaged, and therefore not compacted");
    }

    private void note(Segment segment, BatchScanner scanner, long limit, TransactionEnds ends) throws IOException {
        ByteBuf header = scanner.header();
        if (!RecordBatch.isTransactional(header, 0)) {
            return;
        }
        if (!RecordBatch.isControl(header, 0)) {
            if (scanner.baseOffset() < limit) {
                ends.noteData(RecordBatch.producerId(header, 0), scanner.baseOffset());
            }
            return;
        }
        int sizeBytes = scanner.sizeBytes();
        ByteBuf batch = PooledByteBufAllocator.DEFAULT.directBuffer(sizeBytes);
        try {
            segment.readFully(batch.internalNioBuffer(0, sizeBytes), scanner.position());
            reader.reset(batch.writerIndex(sizeBytes));
            if (reader.nextBatch()) {
                ends.noteMarker(reader);
            }
        } finally {
            reader.close();
            batch.release();
        }
    }

    /** Returns the offset up to which every key is recorded. */
    private long noteKeys(CompactableSegments work, long from, long limit, TransactionEnds ends) throws IOException {
        KeyOffsets newest = job.memory();
        newest.clear();
        for (Segment segment : work.segments()) {
            if (segment.endOffset() <= from || segment.baseOffset() >= limit) {
                continue;
            }
            int start = segment.index().floorByOffset(from);
            try (SegmentBatches batches = new SegmentBatches(segment, start, reader)) {
                while (batches.next()) {
                    if (reader.nextOffset() <= from) {
                        continue;
                    }
                    if (reader.baseOffset() >= limit || job.stopped().getAsBoolean()) {
                        return job.stopped().getAsBoolean() ? from : limit;
                    }
                    long unknown = noteKeys(newest, from, ends);
                    if (unknown != KeyOffsets.NONE) {
                        return unknown; // Keys that did not fit are left to the next pass.
                    }
                }
            }
        }
        return limit;
    }

    /**
     * Records the keys of the current batch from {@code from} on. A pass may end within a batch: one with more keys
     * than fit must supersede older records before its tombstones are removed.
     *
     * @return the offset of the first key that did not fit; {@link KeyOffsets#NONE} if all did
     */
    private long noteKeys(KeyOffsets newest, long from, TransactionEnds ends) {
        boolean skipped = reader.isControlBatch()
                || (reader.isTransactional() && ends.isAborted(reader.producerId(), reader.baseOffset()));
        while (!skipped && reader.next()) {
            ByteBuf key = reader.key();
            if (key != null && reader.offset() >= from && !newest.put(key, reader.offset())) {
                return reader.offset();
            }
        }
        return KeyOffsets.NONE;
    }

    // ---- writing

    /**
     * Writes one segment for a group of segments and replaces the group with it. Returns false if the compaction cannot
     * continue.
     */
    private boolean clean(List<Segment> group, CompactableSegments work, BatchCleaner cleaner) throws IOException {
        CompactedSegmentWriter target =
                new CompactedSegmentWriter(store, log.directory(), group.get(0).baseOffset(), log.indexIntervalBytes());
        SegmentSwap swap = null;
        try {
            boolean changed = group.size() > 1;
            for (Segment segment : group) {
                changed |= copy(segment, target, work.endOffset(), cleaner);
                readBytes += segment.sizeBytes();
                if (job.stopped().getAsBoolean()) {
                    return false;
                }
            }
            if (!changed) {
                return true;
            }
            log.abortedTransactions().remove(goneMarkers);
            goneMarkers.clear();
            swap = begin(target.finish(), group, work.offsetBehind(group.get(group.size() - 1)));
        } finally {
            if (swap == null) {
                store.delete(target.abandon());
            }
        }
        if (swap != null) {
            freedBytes += group.stream().mapToLong(Segment::sizeBytes).sum() - target.sizeBytes();
            log.completeSwap();
        }
        return swap != null;
    }

    /** Returns null if the journal is closed or some of the group are no longer listed. */
    private SegmentSwap begin(Segment cleaned, List<Segment> group, long endOffset) throws IOException {
        log.syncDirectory();
        SegmentSwap swap = new SegmentSwap(store, log.directory(), cleaned, group, endOffset);
        return job.owner().run(() -> log.beginSwap(swap)) ? swap : null;
    }

    /** Returns whether any batch was changed or removed. */
    private boolean copy(Segment segment, CompactedSegmentWriter target, long endOffset, BatchCleaner cleaner)
            throws IOException {
        boolean changed = false;
        if (segment.sizeBytes() == 0) {
            return false;
        }
        try (SegmentBatches batches = new SegmentBatches(segment, 0, reader)) {
            while (batches.next()) {
                ByteBuf payload = batches.payload();
                int at = reader.batchIndex();
                switch (cleaner.clean(payload, reader.nextOffset() == endOffset)) {
                    case KEPT -> target.add(payload, at, reader.nextIndex() - at);
                    case REPLACED -> {
                        changed = true;
                        ByteBuf replacement = cleaner.takeReplacement();
                        noteMarker(RecordBatch.recordCount(replacement, 0) > 0);
                        addReplacement(target, replacement);
                    }
                    case DROPPED -> {
                        changed = true;
                        noteMarker(false);
                    }
                }
            }
        }
        return changed;
    }

    /**
     * Records a removed marker. Without its marker, readers would hide later records of an aborted transaction's
     * producer.
     */
    private void noteMarker(boolean stays) {
        if (!stays && reader.isControlBatch()) {
            goneMarkers.add(reader.baseOffset());
        }
    }

    private static void addReplacement(CompactedSegmentWriter target, ByteBuf batch) throws IOException {
        try {
            target.add(batch, 0, batch.readableBytes());
        } finally {
            batch.release();
        }
    }
}
