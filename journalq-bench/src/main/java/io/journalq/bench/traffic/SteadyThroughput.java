package io.journalq.bench.traffic;

import java.util.ArrayList;
import java.util.List;

/**
 * Tells when the throughput of a broker that warms up no longer rises: when the mean of the last rounds is little more
 * than that of the rounds before. A single slow round does not end a warm-up, and a single fast one does not extend it
 * for long. One thread.
 */
public final class SteadyThroughput {
    private static final int ROUNDS = 2;
    private static final double MOST_RISE = 1.05;

    private final List<Double> rates = new ArrayList<>();

    /** Adds the throughput of one more round. */
    public void add(double messagesPerSecond) {
        rates.add(messagesPerSecond);
    }

    /** Whether the throughput has stopped rising. False until there were enough rounds. */
    public boolean isSteady() {
        int count = rates.size();
        return count >= 2 * ROUNDS
                && mean(count - ROUNDS, count) <= MOST_RISE * mean(count - 2 * ROUNDS, count - ROUNDS);
    }

    private double mean(int from, int to) {
        return rates.subList(from, to).stream()
                .mapToDouble(Double::doubleValue)
                .average()
                .orElseThrow();
    }
}
