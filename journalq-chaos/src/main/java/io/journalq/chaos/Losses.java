package io.journalq.chaos;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Locale;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Losses that a delivery mode allows: what was acknowledged shortly before the broker was killed. Counts them. Any thread.
 */
final class Losses {
    /** A client may hear of an acknowledgement after the broker that sent it is gone. */
    private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final long boundNanos;
    private final TreeSet<Long> endings = new TreeSet<>();
    private long lost;
    private long oldestNanos;

    /** When each of a producer's messages was acknowledged, by number. One thread at a time. */
    static final class AcknowledgedTimes {
        private long[] nanos = new long[64];

        void add(int number) {
            if (number >= nanos.length) {
                nanos = Arrays.copyOf(nanos, Math.max(number + 1, 2 * nanos.length));
            }
            nanos[number] = System.nanoTime();
        }

        long nanos(int number) {
            return nanos[number];
        }
    }

    /** @param boundMs how long before the end of the broker what is lost may have been acknowledged */
    Losses(long boundMs) {
        this.boundNanos = TimeUnit.MILLISECONDS.toNanos(boundMs);
    }

    /** The broker does nothing from now on. */
    synchronized void onEnding() {
        endings.add(System.nanoTime());
    }

    /** Takes out of {@code missing}, and out of what must be found later, what may be lost. */
    synchronized void takeAllowed(BitSet missing, AcknowledgedTimes times, BitSet acknowledged) {
        for (int number = missing.nextSetBit(0); number >= 0; number = missing.nextSetBit(number + 1)) {
            long atNanos = times.nanos(number);
            Long ending = endings.ceiling(atNanos);
            Long before = endings.floor(atNanos);
            if (before != null && atNanos - before <= LATE_NANOS) {
                ending = before;
            }
            if (ending != null && ending - atNanos <= boundNanos) {
                missing.clear(number);
                acknowledged.clear(number);
                lost++;
                oldestNanos = Math.max(oldestNanos, ending - atNanos);
            }
        }
    }

    @Override
    public synchronized String toString() {
        return String.format(
                Locale.ROOT,
                "%d acknowledged messages lost as the mode allows, the oldest %.1f ms before the broker ended",
                lost,
                oldestNanos / 1e6);
    }
}
