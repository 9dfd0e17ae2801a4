package io.journalq.bench.compare;

import io.journalq.bench.produce.Tuning;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Searches for the best settings by varying one after the other. Each value is tried with the best values so far of the
 * others. One thread.
 */
final class Sweep {
    /** A smaller improvement counts as noise and does not change the settings. */
    private static final double NOTICEABLY_BETTER = 1.02;

    private final Scorer scorer;
    private final Consumer<String> progress;
    private final List<String> trials = new ArrayList<>();
    private Tuning best;
    private double bestScore;

    /** Measures one combination of settings; a higher score is better. */
    @FunctionalInterface
    interface Scorer {
        double score(Tuning tuning) throws InterruptedException;
    }

    /** A setting and the values to try, see {@link Tuning#with}. */
    record Knob(String name, List<String> values) {}

    Sweep(Scorer scorer, Consumer<String> progress) {
        this.scorer = scorer;
        this.progress = progress;
    }

    /** Returns the best settings, starting from {@code start}. */
    Tuning search(Tuning start, List<Knob> knobs) throws InterruptedException {
        best = start;
        // The first run warms up broker and client, and its score is discarded.
        scorer.score(start);
        bestScore = scorer.score(start);
        note("start: " + start.inWords(true));
        for (Knob knob : knobs) {
            for (String value : knob.values()) {
                if (!value.equals(best.value(knob.name()))) {
                    tryOne(knob.name(), value);
                }
            }
        }
        return best;
    }

    private void tryOne(String name, String value) throws InterruptedException {
        Tuning candidate = best.with(name, value);
        double score = scorer.score(candidate);
        boolean better = score > bestScore * NOTICEABLY_BETTER;
        trials.add("%s=%s: %,.0f msg/s%s".formatted(name, value, score, better ? ", kept" : ""));
        progress.accept(trials.get(trials.size() - 1));
        if (better) {
            best = candidate;
            bestScore = score;
        }
    }

    private void note(String what) {
        trials.add("%s: %,.0f msg/s".formatted(what, bestScore));
        progress.accept(trials.get(trials.size() - 1));
    }

    double bestScore() {
        return bestScore;
    }

    List<String> trials() {
        return List.copyOf(trials);
    }
}
