package io.journalq.server.journal.compaction;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.read.RangeCheck;
import io.journalq.server.journal.read.RangeCheck.CheckedRange;
import io.journalq.server.journal.read.RangeCheck.Range;
import io.journalq.server.journal.segment.BatchCheck;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.segment.SegmentSwap;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Replaces a damaged closed segment with a new one, whose batches are read from another replica. The new segment has
 * every offset of the old one, and what is not damaged in the old one is the same in both; otherwise the old segment
 * stays. The segments are swapped as compaction swaps them. One thread; blocks.
 */
public final class SegmentHealing {
    private final FileStore store;
    private final CompactedLog log;
    private final Job job;

    /** Another replica of the log. */
    @FunctionalInterface
    public interface Source {
        /**
         * Reads batches. Blocks.
         *
         * @param offset the first batch begins here
         * @param endOffset no batch ends behind it
         * @return at least one whole batch, in a buffer that the caller owns
         * @throws IOException if the replica cannot give them; the message states the reason
         */
        ByteBuf read(long offset, long endOffset) throws IOException;
    }

    /** The leader epoch of an offset. */
    @FunctionalInterface
    public interface Epochs {
        /** The epoch in which {@code offset} was written; -1 if it is not known. */
        int epochOf(long offset);
    }

    /**
     * The parameters of one healing.
     *
     * @param epochs of the log; no CRC covers those in the batches
     * @param owner runs steps on the thread that owns the log
     */
    public record Job(Source source, Epochs epochs, CompactionJob.Owner owner) {}

    public SegmentHealing(FileStore store, CompactedLog log, Job job) {
        this.store = store;
        this.log = log;
        this.job = job;
    }

    /**
     * Replaces the segment that holds {@code offset}.
     *
     * @return false if the log was closed or changed meanwhile
     * @throws IOException if the segment is not closed and durable yet, the source cannot give its batches, or a file
     *     cannot be written
     */
    public boolean run(long offset) throws IOException {
        log.completeSwap();
        Segment[] all = log.segments();
        int at = 0;
        while (at + 1 < all.length && all[at + 1].baseOffset() <= offset) {
            at++;
        }
        if (at + 1 == all.length || all[at + 1].baseOffset() > log.flushedOffset()) {
            throw new IOException("its segment is not closed and durable yet");
        }
        if (!all[at].tryRetain()) {
            return false;
        }
        if (!all[at + 1].tryRetain()) {
            all[at].release();
            return false;
        }
        try (RangeCheck old = new RangeCheck(new Segment[] {all[at], all[at + 1]})) {
            return replace(all[at], all[at + 1].baseOffset(), old);
        }
    }

    private boolean replace(Segment damaged, long endOffset, RangeCheck old) throws IOException {
        CompactedSegmentWriter target =
                new CompactedSegmentWriter(store, log.directory(), damaged.baseOffset(), log.indexIntervalBytes());
        SegmentSwap swap = null;
        try {
            long next = damaged.baseOffset();
            while (next < endOffset) {
                ByteBuf batches = job.source().read(next, endOffset);
                try {
                    long behind = add(batches, next, endOffset, target);
                    compare(batches, next, behind, old);
                    next = behind;
                } finally {
                    batches.release();
                }
            }
            swap = begin(target.finish(), damaged, endOffset);
        } finally {
            if (swap == null) {
                store.delete(target.abandon());
            }
        }
        if (swap != null) {
            log.completeSwap();
        }
        return swap != null;
    }

    private SegmentSwap begin(Segment healed, Segment damaged, long endOffset) throws IOException {
        log.syncDirectory();
        SegmentSwap swap = new SegmentSwap(store, log.directory(), healed, List.of(damaged), endOffset);
        return job.owner().run(() -> log.beginSwap(swap)) ? swap : null;
    }

    /** Checks batches and adds them to the new segment; returns the offset behind them. */
    private long add(ByteBuf batches, long offset, long endOffset, CompactedSegmentWriter target) throws IOException {
        long next = offset;
        int at = batches.readerIndex();
        while (at < batches.writerIndex()) {
            int left = batches.writerIndex() - at;
            int sizeBytes = left < RecordBatch.HEADER_SIZE_BYTES ? 0 : RecordBatch.sizeBytes(batches, at);
            if (sizeBytes > left || !BatchCheck.isSound(batches, at, sizeBytes)) {
                throw new IOException("the other replica has sent a damaged batch for offset " + next);
            }
            boolean complete = RecordBatch.recordCount(batches, at) == RecordBatch.lastOffsetDelta(batches, at) + 1;
            if (RecordBatch.baseOffset(batches, at) != next
                    || RecordBatch.nextOffset(batches, at) > endOffset
                    || !complete) {
                throw new IOException("the other replica has other batches at offset " + next);
            }
            int epoch = job.epochs().epochOf(next);
            if (epoch >= 0 && epoch != RecordBatch.leaderEpoch(batches, at)) {
                throw new IOException("the other replica has another leader epoch at offset " + next);
            }
            if (target.sizeBytes() > Segment.MAX_SIZE_BYTES) {
                throw new IOException("the other replica has more batches than fit into a segment");
            }
            target.add(batches, at, sizeBytes);
            next = RecordBatch.nextOffset(batches, at);
            at += sizeBytes;
        }
        if (next == offset) {
            throw new IOException("the other replica has sent no batch for offset " + next);
        }
        return next;
    }

    /** What is not damaged in the old segment must be the same in the new one. */
    private static void compare(ByteBuf batches, long offset, long endOffset, RangeCheck old) throws IOException {
        byte[] header = new byte[RecordBatch.HEADER_SIZE_BYTES];
        int at = batches.readerIndex();
        long next = offset;
        while (next < endOffset) {
            CheckedRange healthy = old.run(new Range(next, endOffset, Integer.MAX_VALUE, false), null);
            CRC32C headers = new CRC32C();
            while (at < batches.writerIndex() && RecordBatch.baseOffset(batches, at) < healthy.endOffset()) {
                if (RecordBatch.baseOffset(batches, at) >= next) {
                    batches.getBytes(at, header);
                    headers.update(header);
                }
                at += RecordBatch.sizeBytes(batches, at);
            }
            if ((int) headers.getValue() != healthy.checksum()) {
                throw new IOException(
                        "undamaged batches from offset " + next + " on differ from those of the other replica");
            }
            next = healthy.isDamaged() ? healthy.damagedUntil() : healthy.endOffset();
        }
    }
}
