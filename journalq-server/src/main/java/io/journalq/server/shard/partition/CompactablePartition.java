package io.journalq.server.shard.partition;

import io.journalq.server.journal.Journal;
import io.journalq.server.journal.compaction.CompactionJob;
import io.journalq.server.journal.compaction.CompactionJob.CompactionResult;
import io.journalq.server.journal.compaction.KeyOffsets;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.loop.LoopCycle;
import java.io.IOException;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * A partition about to be compacted: the facts from its loop, for a thread that may block. That thread waits for the
 * loop when segments are replaced; the loop never waits for it.
 */
public final class CompactablePartition {
    private final Journal journal;
    private final long stableOffset;
    private final Map<Long, Long> lastBatchByProducer;
    private final BooleanSupplier closed;

    /** @param closed whether the partition has left its loop; called on the loop */
    CompactablePartition(
            Journal journal, long stableOffset, Map<Long, Long> lastBatchByProducer, BooleanSupplier closed) {
        this.journal = journal;
        this.stableOffset = stableOffset;
        this.lastBatchByProducer = lastBatchByProducer;
        this.closed = closed;
    }

    /**
     * Compacts the partition. One thread at a time; blocks.
     *
     * @param cycle the partition's loop
     * @param waiting how this thread waits for it
     * @param memory for keys
     * @param stopped whether to stop early
     */
    public CompactionResult compact(
            LoopCycle cycle, FutureWaiter waiting, long nowMs, KeyOffsets memory, BooleanSupplier stopped)
            throws IOException {
        return journal.rewrites()
                .compact(new CompactionJob(
                        stableOffset,
                        lastBatchByProducer,
                        nowMs,
                        memory,
                        new LoopOwner(cycle, waiting, closed),
                        stopped));
    }
}
