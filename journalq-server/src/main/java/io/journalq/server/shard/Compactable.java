package io.journalq.server.shard;

import io.journalq.server.journal.Journal;
import io.journalq.server.journal.compaction.CompactionJob;
import io.journalq.server.journal.compaction.CompactionResult;
import io.journalq.server.journal.compaction.KeyOffsets;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.loop.Waiting;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;

/**
 * A partition about to be compacted: what its loop knows, for a thread that may block. That thread waits for the loop
 * when segments change places, and the loop never for it.
 */
public final class Compactable {
    private final PartitionHost host;
    private final Journal journal;
    private final long stableOffset;
    private final Map<Long, Long> lastBatchByProducer;

    Compactable(PartitionHost host, Journal journal, long stableOffset, Map<Long, Long> lastBatchByProducer) {
        this.host = host;
        this.journal = journal;
        this.stableOffset = stableOffset;
        this.lastBatchByProducer = lastBatchByProducer;
    }

    /**
     * Compacts the partition. One thread at a time; blocks.
     *
     * @param cycle the partition's loop
     * @param waiting how this thread waits for it
     * @param memory for keys
     * @param stopped whether to give up
     */
    public CompactionResult compact(
            LoopCycle cycle, Waiting waiting, long nowMs, KeyOffsets memory, BooleanSupplier stopped)
            throws IOException {
        return journal.compact(new CompactionJob(
                stableOffset, lastBatchByProducer, nowMs, memory, step -> runOn(cycle, waiting, step), stopped));
    }

    private boolean runOn(LoopCycle cycle, Waiting waiting, CompactionJob.Step step) throws IOException {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        boolean accepted = cycle.execute(() -> {
            try {
                done.complete(!host.isClosed() && step.run());
            } catch (IOException | RuntimeException | Error failure) {
                done.completeExceptionally(failure);
            }
        });
        if (!accepted) {
            return false;
        }
        try {
            return waiting.join(done);
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof IOException io) {
                throw io;
            }
            throw failure;
        }
    }
}
