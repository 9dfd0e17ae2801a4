package io.journalq.common.record;

/**
 * Decides whether to compress the batches of one stream, typically of one topic of a producer. After a batch that
 * compression did not shrink, a number of batches is not compressed. That number doubles with each failure, up to a
 * limit, and is reset by a success. Not thread-safe.
 */
public final class AdaptiveCompression {
    /** The minimum saving for which the compressed form is used. */
    public static final int MIN_SAVING_PERCENT = 5;

    /** The maximum number of batches without compression between two attempts. */
    public static final int MAX_SKIPPED_BATCHES = 64;

    private int skipAfterFailure = 1;
    private int skipsLeft;

    /** Whether the compressed form is small enough to justify decompressing it later. */
    public static boolean isWorthwhile(int plainBytes, int compressedBytes) {
        return compressedBytes <= plainBytes * (100L - MIN_SAVING_PERCENT) / 100;
    }

    /** Whether to compress the next batch. If not, counts it as skipped. */
    public boolean shouldTry() {
        if (skipsLeft == 0) {
            return true;
        }
        skipsLeft--;
        return false;
    }

    /** Reports the result of an attempt. */
    public void onTried(boolean worthwhile) {
        if (worthwhile) {
            skipAfterFailure = 1;
        } else {
            skipsLeft = skipAfterFailure;
            skipAfterFailure = Math.min(skipAfterFailure * 2, MAX_SKIPPED_BATCHES);
        }
    }
}
