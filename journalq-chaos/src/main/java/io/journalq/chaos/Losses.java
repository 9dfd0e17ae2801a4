package io.journalq.chaos;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Locale;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Decides which losses a delivery mode allows, and counts them. Only messages that were acknowledged shortly before the
 * broker was killed may be lost. Any thread.
 */
final class Losses {
    /** Delay after the end of a broker within which a client may still receive an acknowledgement from it. */
    private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final long boundNanos;
    private final TreeSet<Long> endings = new TreeSet<>();
    private long lost;
    private long oldestNanos;

    /** Times at which the messages of one producer were acknowledged, by message number. One thread at a time. */
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

    /** @param boundMs age up to which messages may be lost when the broker ends */
    Losses(long boundMs) {
        this.boundNanos = TimeUnit.MILLISECONDS.toNanos(boundMs);
    }

    /** The broker is killed or frozen, or loses its directory. */
    synchronized void onEnding() {
        endings.add(System.nanoTime());
    }

    /**
     * Removes the allowed losses from {@code missing} and from {@code acknowledged}, which later readings must find.
     */
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
                "%d acknowledged messages lost as the mode allows, the oldest acknowledged %.1f ms before the broker"
                        + " ended",
                lost,
                oldestNanos / 1e6);
    }
}
