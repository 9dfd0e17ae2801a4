package io.journalq.chaos.load;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Decides which losses a delivery mode allows, and counts them. Only messages that were acknowledged shortly before or
 * during a fault may be lost. Any thread.
 */
public final class Losses {
    /** Delay after the end of a fault within which a client may still receive an acknowledgement from before. */
    private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final long boundNanos;
    private final List<Window> windows = new ArrayList<>();
    private long lost;
    private long oldestNanos;
    private long longestSpanNanos;
    /** The longest one that was reported. Longer ones that are allowed do not hide it. */
    private long longestReportedNanos;

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

    /** A period in which acknowledged messages may be lost. */
    private static final class Window {
        /** When the fault began. */
        private final long beginNanos;

        private final long longestSpanNanos;
        private final boolean fencing;
        private long endNanos = Long.MAX_VALUE;

        Window(long beginNanos, long longestSpanNanos, boolean fencing) {
            this.beginNanos = beginNanos;
            this.longestSpanNanos = longestSpanNanos;
            this.fencing = fencing;
        }
    }

    /** @param boundMs age up to which messages may be lost when a fault begins */
    public Losses(long boundMs) {
        this.boundNanos = TimeUnit.MILLISECONDS.toNanos(boundMs);
    }

    /** The broker is killed or frozen, or loses its directory. */
    public synchronized void onEnding() {
        onFault(Long.MAX_VALUE);
        onFaultOver();
    }

    /**
     * A fault begins, and lasts until {@link #onFaultOver}.
     *
     * @param longestSpanMs time between the acknowledgements of the first and of the last of successive messages that one
     *     producer may lose in one partition
     */
    public synchronized void onFault(long longestSpanMs) {
        windows.add(new Window(System.nanoTime(), TimeUnit.MILLISECONDS.toNanos(longestSpanMs), false));
    }

    /**
     * A broker was fenced at {@code atNanos}, perhaps without an injected fault, because it got no processor time. To be
     * called when all other faults are over.
     *
     * @param silentMs for how long it had not been heard of
     * @param unawareMs for how long it did not know of it, and went on
     * @param longestSpanMs as in {@link #onFault}
     */
    public synchronized void onFencing(long atNanos, long silentMs, long unawareMs, long longestSpanMs) {
        Window window = new Window(
                atNanos - TimeUnit.MILLISECONDS.toNanos(silentMs), TimeUnit.MILLISECONDS.toNanos(longestSpanMs), true);
        window.endNanos = atNanos + TimeUnit.MILLISECONDS.toNanos(unawareMs) + LATE_NANOS;
        windows.add(window);
    }

    /** The last fault that began is over. */
    public synchronized void onFaultOver() {
        windows.get(windows.size() - 1).endNanos = System.nanoTime() + LATE_NANOS;
    }

    /**
     * Removes the allowed losses from {@code missing} and from {@code acknowledged}, which later readings must find.
     *
     * @param findings is informed of losses that are in the right period, but are too many
     */
    synchronized void takeAllowed(
            BitSet missing, AcknowledgedTimes times, BitSet acknowledged, Consumer<String> findings) {
        for (Window window : windows) {
            int previous = -1;
            long firstNanos = 0;
            for (int number = missing.nextSetBit(0); number >= 0; number = missing.nextSetBit(number + 1)) {
                long atNanos = times.nanos(number);
                if (atNanos >= window.beginNanos - boundNanos && atNanos <= window.endNanos) {
                    missing.clear(number);
                    acknowledged.clear(number);
                    lost++;
                    oldestNanos = Math.max(oldestNanos, window.beginNanos - atNanos);
                    // After a message that is there, another loss begins.
                    if (previous < 0 || number != previous + 1) {
                        firstNanos = atNanos;
                    }
                    previous = number;
                    onSpan(atNanos - firstNanos, limitNanos(window, firstNanos, atNanos), findings);
                }
            }
        }
    }

    /** How long successive losses may be: if several leaders were fenced one after the other, each may lose its own. */
    private long limitNanos(Window window, long firstNanos, long lastNanos) {
        long ofFencedNanos = windows.stream()
                .filter(other -> other.fencing)
                .filter(other -> lastNanos >= other.beginNanos - boundNanos && firstNanos <= other.endNanos)
                .mapToLong(other -> other.longestSpanNanos)
                .sum();
        return Math.max(window.longestSpanNanos, ofFencedNanos);
    }

    private void onSpan(long nanos, long limitNanos, Consumer<String> findings) {
        if (nanos > limitNanos && nanos > longestReportedNanos) {
            longestReportedNanos = nanos;
            findings.accept(String.format(
                    Locale.ROOT, "successive messages that were acknowledged within %.3f s are lost", nanos / 1e9));
        }
        longestSpanNanos = Math.max(longestSpanNanos, nanos);
    }

    /** Number of messages that were lost as the mode allows. */
    public synchronized long lostCount() {
        return lost;
    }

    /** The longest time from the first to the last acknowledgement of successive messages that are lost. */
    public synchronized long longestSpanMs() {
        return TimeUnit.NANOSECONDS.toMillis(longestSpanNanos);
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
