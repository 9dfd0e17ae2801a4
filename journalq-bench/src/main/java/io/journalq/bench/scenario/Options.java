package io.journalq.bench.scenario;

import io.journalq.bench.BenchException;

/** Checks of what a command line gave. Stateless. */
final class Options {
    private Options() {}

    static void requirePositive(String option, long value) {
        if (value < 1) {
            throw new BenchException(option + " is " + value, "give a number from 1 up");
        }
    }

    static void requireNotNegative(String option, long value) {
        if (value < 0) {
            throw new BenchException(option + " is " + value, "give a number from 0 up");
        }
    }
}
