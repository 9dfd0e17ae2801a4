package io.journalq.server.shard.partition;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.compaction.SegmentHealing;
import io.journalq.server.journal.read.RangeCheck;
import io.journalq.server.journal.read.RangeCheck.CheckedRange;
import io.journalq.server.journal.read.RangeCheck.Range;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.loop.LoopCycle;
import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * A partition that may be damaged: the facts from its loop, for a thread that may block.
 *
 * @param sources the other brokers that have all its committed records, the leader first
 * @param highWatermark nothing behind it is healed, because other replicas may have other batches there
 * @param closed whether the partition has left its loop; called on the loop
 */
public record HealablePartition(
        TopicPartition name, Journal journal, List<Integer> sources, long highWatermark, BooleanSupplier closed) {
    public HealablePartition {
        sources = List.copyOf(sources);
    }

    /**
     * Looks for damage in the segment that holds {@code offset}, from that offset on. Blocks.
     *
     * @return null if the records are not there any more
     * @throws IOException if the file cannot be read
     */
    public CheckedRange check(long offset) throws IOException {
        if (offset < journal.startOffset() || offset >= highWatermark) {
            return null;
        }
        return check(offset, Math.min(highWatermark, journal.segmentEnd(offset)), Integer.MAX_VALUE);
    }

    /**
     * Reads committed records and looks for damage. Blocks.
     *
     * @param offset if the log begins behind it, the start of the log
     * @param maxBytes reading stops before it exceeds this size, but not before the first batch
     * @return null if there are no records
     * @throws IOException if a file cannot be read
     */
    public CheckedRange checkFrom(long offset, int maxBytes) throws IOException {
        long start = Math.max(offset, journal.startOffset());
        return start >= highWatermark ? null : check(start, highWatermark, maxBytes);
    }

    private CheckedRange check(long offset, long endOffset, int maxBytes) throws IOException {
        try (RangeCheck check = journal.rangeCheck()) {
            return check.run(
                    new Range(offset, endOffset, maxBytes, journal.rewrites().mayHaveGaps()), null);
        }
    }

    /**
     * Replaces the segment that holds {@code offset}, see {@link JournalRewrites#heal}. Blocks.
     *
     * @param cycle the partition's loop
     * @param waiting how this thread waits for it
     */
    public boolean heal(LoopCycle cycle, FutureWaiter waiting, long offset, SegmentHealing.Source source)
            throws IOException {
        if (journal.segmentEnd(offset) > highWatermark) {
            throw new IOException("its segment is not below the high watermark yet");
        }
        return journal.rewrites().heal(offset, source, new LoopOwner(cycle, waiting, closed));
    }
}
