package io.journalq.server.journal.compaction;

import java.io.IOException;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * The parameters of one compaction of a journal.
 *
 * @param stableOffset records at or behind this are not compacted, because they belong to transactions that may still
 *     be aborted
 * @param lastBatchByProducer base offset of the last batch of each remembered producer; -1 for one with only markers
 * @param nowMs in milliseconds since 1970 UTC
 * @param memory for keys; used by one compaction at a time
 * @param owner runs steps on the thread that owns the journal
 * @param stopped whether to stop early; called between batches
 */
public record CompactionJob(
        long stableOffset,
        Map<Long, Long> lastBatchByProducer,
        long nowMs,
        KeyOffsets memory,
        Owner owner,
        BooleanSupplier stopped) {
    /** The thread that owns a journal. */
    @FunctionalInterface
    public interface Owner {
        /**
         * Runs a step on that thread and waits for it.
         *
         * @return the result of the step; false if the journal is closed and the step did not run
         */
        boolean run(Step step) throws IOException;
    }

    /** A short operation. */
    @FunctionalInterface
    public interface Step {
        boolean run() throws IOException;
    }

    /**
     * The result of one compaction.
     *
     * @param readSizeBytes size of the segments that were read, counted once for each pass
     * @param freedSizeBytes the number of bytes by which the log shrank
     * @param passes the number of passes over the log: more than one if the keys did not fit into memory
     */
    public record CompactionResult(long readSizeBytes, long freedSizeBytes, int passes) {}
}
