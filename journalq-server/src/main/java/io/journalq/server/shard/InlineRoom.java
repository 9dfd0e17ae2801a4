package io.journalq.server.shard;

import io.journalq.common.record.BatchValidation;
import io.journalq.server.loop.LoopCycle;

/**
 * How far a loop looks into batches itself. What a batch of the usual ratio becomes when it is decompressed costs its
 * sender as much as the broker; what is beyond that, a few bytes can ask for. So each iteration has a fixed room for what
 * is beyond, a few milliseconds' worth, and batches that need more are checked by a thread that may block, as are large
 * ones and those that are to be compressed. On the shard's loop.
 */
final class InlineRoom {
    /** Text and JSON in large batches seldom reach it. */
    private static final int USUAL_RATIO = 16;

    /**
     * How many of the largest batches an iteration has room for beyond the ratio: a producer with many batches in flight
     * that compress very well should not need another thread, as handing them over costs more than to look into them.
     */
    private static final int ROOM_BATCHES = 8;

    /** Compressing takes ten times as long as decompressing. */
    private static final int RECOMPRESSION_PART = 16;

    private final LoopCycle cycle;
    private final int maxBatchBytes;
    private final long iterationBytes;
    private final Runnable reset = this::reset;
    private long usedBytes;
    private boolean resetRegistered;

    /** @param maxBatchBytes the largest batch, decompressed, that a loop looks into */
    InlineRoom(LoopCycle cycle, int maxBatchBytes) {
        this.cycle = cycle;
        this.maxBatchBytes = maxBatchBytes;
        this.iterationBytes = (long) maxBatchBytes * ROOM_BATCHES;
    }

    /** How large a batch of that many bytes may become. */
    int roomBytes(int sizeBytes) {
        long left = Math.max(0, iterationBytes - usedBytes);
        return (int) Math.min(maxBatchBytes, usualBytes(sizeBytes) + left);
    }

    private static long usualBytes(int sizeBytes) {
        return (long) sizeBytes * USUAL_RATIO;
    }

    /** A batch of {@code sizeBytes} was looked into. */
    void onChecked(BatchValidation checked, int sizeBytes) {
        long beyond = checked.decompressedSizeBytes() - usualBytes(sizeBytes);
        if (beyond > 0) {
            usedBytes += beyond;
            if (!resetRegistered) {
                resetRegistered = true;
                cycle.onWrite(reset);
            }
        }
    }

    /** Whether records of that size may be compressed anew on the loop. */
    boolean allowsRecompression(int recordsSizeBytes) {
        return recordsSizeBytes <= maxBatchBytes / RECOMPRESSION_PART;
    }

    private void reset() {
        resetRegistered = false;
        usedBytes = 0;
    }
}
