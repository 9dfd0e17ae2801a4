package io.journalq.server.journal.compaction;

import java.io.IOException;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * What one compaction of a journal is given.
 *
 * @param stableOffset what lies at or behind this may still change its meaning, and is left alone
 * @param lastBatchByProducer base offset of the last batch of each producer that is remembered; -1 for one with only
 *     markers
 * @param nowMs in milliseconds since 1970 UTC
 * @param memory for keys; used by one compaction at a time
 * @param owner runs steps on the thread that owns the journal
 * @param stopped whether to give up; asked between batches
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
         * Runs a step there and waits for it.
         *
         * @return what the step returns; false when the owner has gone and nothing was run
         */
        boolean run(Step step) throws IOException;
    }

    /** Something short. */
    @FunctionalInterface
    public interface Step {
        boolean run() throws IOException;
    }
}
