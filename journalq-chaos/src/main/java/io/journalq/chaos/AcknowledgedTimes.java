package io.journalq.chaos;

import java.util.Arrays;

/** When each of a producer's messages was acknowledged, by number. One thread at a time. */
final class AcknowledgedTimes {
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
