package io.journalq.server.shard.append;

import io.journalq.common.record.BatchValidation;
import io.journalq.server.loop.LoopCycle;

/**
 * How much a loop decompresses itself to validate batches. A batch of the usual compression ratio costs its sender as much
 * as the broker. Beyond that ratio, a few bytes can ask for a lot of work, so each iteration of the loop has a fixed budget
 * for it, a few milliseconds' worth. Batches that need more are validated on a thread that may block, as are large batches
 * and those that have to be compressed. On the shard's loop.
 */
final class InlineValidationBudget {
    /** Text and JSON in large batches rarely reach it. */
    private static final int USUAL_RATIO = 16;

    /**
     * The budget of an iteration in batches of the largest size. A producer with many batches in flight that compress very
     * well should not need another thread: handing a batch over costs more than validating it.
     */
    private static final int BUDGET_BATCHES = 8;

    /** Compressing takes ten times as long as decompressing. */
    private static final int RECOMPRESSION_PART = 16;

    private final LoopCycle cycle;
    private final int maxBatchBytes;
    private final long iterationBytes;
    private final Runnable reset = this::reset;
    private long usedBytes;
    private boolean resetRegistered;

    /** @param maxBatchBytes size of the largest decompressed batch that the loop validates itself */
    InlineValidationBudget(LoopCycle cycle, int maxBatchBytes) {
        this.cycle = cycle;
        this.maxBatchBytes = maxBatchBytes;
        this.iterationBytes = (long) maxBatchBytes * BUDGET_BATCHES;
    }

    /** Size that a batch of {@code sizeBytes} may have when it is decompressed. */
    int maxBytes(int sizeBytes) {
        long left = Math.max(0, iterationBytes - usedBytes);
        return (int) Math.min(maxBatchBytes, usualBytes(sizeBytes) + left);
    }

    private static long usualBytes(int sizeBytes) {
        return (long) sizeBytes * USUAL_RATIO;
    }

    /** A batch of {@code sizeBytes} was validated. */
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
