package io.journalq.common.record;

/**
 * Remembers whether compression pays for one stream of batches, typically one topic of one producer. After a batch that
 * did not shrink it stops trying for a number of batches that doubles with each failure, up to a limit; one that shrank
 * starts again from nothing. Not thread-safe.
 */
public final class AdaptiveCompression {
    /** A compressed form must be at least this much smaller to be used. */
    public static final int MIN_SAVING_PERCENT = 5;

    /** Most batches that go uncompressed before the next trial. */
    public static final int MAX_SKIPPED_BATCHES = 64;

    private int skipAfterFailure = 1;
    private int skipsLeft;

    /** Whether {@code compressedBytes} is small enough to be worth the reader's work. */
    public static boolean isWorthwhile(int plainBytes, int compressedBytes) {
        return compressedBytes <= plainBytes * (100L - MIN_SAVING_PERCENT) / 100;
    }

    /** Whether to try on the next batch; counts that batch as skipped when not. */
    public boolean shouldTry() {
        if (skipsLeft == 0) {
            return true;
        }
        skipsLeft--;
        return false;
    }

    /** Tells how a trial went. */
    public void onTried(boolean worthwhile) {
        if (worthwhile) {
            skipAfterFailure = 1;
        } else {
            skipsLeft = skipAfterFailure;
            skipAfterFailure = Math.min(skipAfterFailure * 2, MAX_SKIPPED_BATCHES);
        }
    }
}
