package io.journalq.bench.option;

import io.journalq.bench.BenchException;

/** Checks of what a command line gave. Stateless. */
public final class Options {
    private Options() {}

    public static void requirePositive(String option, long value) {
        if (value < 1) {
            throw new BenchException(option + " is " + value, "give a number from 1 up");
        }
    }

    public static void requireNotNegative(String option, long value) {
        if (value < 0) {
            throw new BenchException(option + " is " + value, "give a number from 0 up");
        }
    }
}
