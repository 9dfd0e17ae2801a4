package io.journalq.chaos.failover;

import java.util.Collection;
import java.util.concurrent.TimeUnit;

/** The longest times without an acknowledgement to one client, by partition. Any thread. */
final class Gaps {
    /** A shorter gap is usual. */
    private static final long SETTLED_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final long[] lastNanos;
    private final long[] longestNanos;
    /** When the last gap ended that was not a usual one. */
    private final long[] restartNanos;

    Gaps(int partitions) {
        lastNanos = new long[partitions];
        longestNanos = new long[partitions];
        restartNanos = new long[partitions];
        begin(System.nanoTime());
    }

    /** Begins to measure. */
    synchronized void begin(long nowNanos) {
        for (int partition = 0; partition < lastNanos.length; partition++) {
            lastNanos[partition] = nowNanos;
            longestNanos[partition] = 0;
            restartNanos[partition] = nowNanos;
        }
    }

    synchronized void onAcknowledged(int partition, long nowNanos) {
        long gapNanos = nowNanos - lastNanos[partition];
        longestNanos[partition] = Math.max(longestNanos[partition], gapNanos);
        if (gapNanos > SETTLED_NANOS) {
            restartNanos[partition] = nowNanos;
        }
        lastNanos[partition] = nowNanos;
    }

    /** Whether acknowledgements have arrived without an unusual gap for {@code forNanos}, in each of the partitions. */
    synchronized boolean areSettled(Collection<Integer> partitions, long nowNanos, long forNanos) {
        return partitions.stream()
                .allMatch(partition -> nowNanos - lastNanos[partition] <= SETTLED_NANOS
                        && nowNanos - restartNanos[partition] >= forNanos);
    }

    /**
     * The longest gap of the partitions, in ms. One that has not ended counts as well.
     *
     * @throws java.util.NoSuchElementException if there are no partitions, so that nothing was measured
     */
    synchronized long longestMs(Collection<Integer> partitions, long nowNanos) {
        long longest = partitions.stream()
                .mapToLong(partition -> Math.max(longestNanos[partition], nowNanos - lastNanos[partition]))
                .max()
                .orElseThrow();
        return TimeUnit.NANOSECONDS.toMillis(longest);
    }
}
