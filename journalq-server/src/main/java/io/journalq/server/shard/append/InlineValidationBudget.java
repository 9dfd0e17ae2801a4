package io.journalq.server.shard.append;

import io.journalq.common.record.BatchValidation;
import io.journalq.server.loop.LoopCycle;

/**
 * Limits how much a loop decompresses to validate batches. A batch with a usual compression ratio costs its sender as
 * much as the broker. Beyond that ratio a few bytes can cause a lot of work, so each iteration of the loop has a fixed
 * budget for it, equivalent to a few milliseconds. Batches beyond the budget are validated on a thread that may block,
 * like large batches and those that have to be compressed. On the shard's loop.
 */
final class InlineValidationBudget {
    /** Text and JSON in large batches rarely exceed this ratio. */
    private static final int USUAL_RATIO = 16;

    /**
     * The budget of an iteration, in batches of maximum size. A producer that has many very compressible batches in
     * flight should not need another thread, because handing a batch over costs more than validating it.
     */
    private static final int BUDGET_BATCHES = 8;

    /** Compression takes ten times as long as decompression. */
    private static final int RECOMPRESSION_PART = 16;

    private final LoopCycle cycle;
    private final int maxBatchBytes;
    private final long iterationBytes;
    private final Runnable reset = this::reset;
    private long usedBytes;
    private boolean resetRegistered;

    /** @param maxBatchBytes maximum size of a decompressed batch that the loop validates itself */
    InlineValidationBudget(LoopCycle cycle, int maxBatchBytes) {
        this.cycle = cycle;
        this.maxBatchBytes = maxBatchBytes;
        this.iterationBytes = (long) maxBatchBytes * BUDGET_BATCHES;
    }

    /** Maximum decompressed size for a batch of {@code sizeBytes}. */
    int maxBytes(int sizeBytes) {
        long left = Math.max(0, iterationBytes - usedBytes);
        return (int) Math.min(maxBatchBytes, usualBytes(sizeBytes) + left);
    }

    private static long usualBytes(int sizeBytes) {
        return (long) sizeBytes * USUAL_RATIO;
    }

    /** Charges the validation of a batch of {@code sizeBytes}. */
    void onValidated(BatchValidation checked, int sizeBytes) {
        long beyond = checked.decompressedSizeBytes() - usualBytes(sizeBytes);
        if (beyond > 0) {
            usedBytes += beyond;
            if (!resetRegistered) {
                resetRegistered = true;
                cycle.onWrite(reset);
            }
        }
    }

    /** Whether records of that size may be compressed again on the loop. */
    boolean allowsRecompression(int recordsSizeBytes) {
        return recordsSizeBytes <= maxBatchBytes / RECOMPRESSION_PART;
    }

    private void reset() {
        resetRegistered = false;
        usedBytes = 0;
    }
}
