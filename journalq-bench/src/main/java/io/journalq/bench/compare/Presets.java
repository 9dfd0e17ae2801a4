package io.journalq.bench.compare;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.journalq.bench.BenchException;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.Tuning;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/** The settings that sweeps found, from a file or from the distribution. Immutable. */
public final class Presets {
    private static final String SHIPPED = "presets.json";
    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private final List<Preset> presets;

    public Presets(List<Preset> presets) {
        this.presets = List.copyOf(presets);
    }

    /** The presets of the distribution, which were found on a machine with two cores. */
    public static Presets shipped() {
        try (InputStream in = Presets.class.getResourceAsStream(SHIPPED)) {
            return new Presets(List.of(JSON.readValue(in, Preset[].class)));
        } catch (IOException e) {
            throw new IllegalStateException("the presets of the distribution are not valid JSON", e);
        }
    }

    public static Presets read(Path file) {
        try {
            return new Presets(List.of(JSON.readValue(file.toFile(), Preset[].class)));
        } catch (IOException e) {
            throw new BenchException(
                    "cannot read presets from " + file, "create them with: journalq-bench sweep --save", e);
        }
    }

    public void write(Path file) {
        try {
            Files.writeString(file, JSON.writeValueAsString(presets) + "\n");
        } catch (IOException e) {
            throw new BenchException("cannot write " + file, "use --save with a writable file", e);
        }
    }

    /** Replaces the presets for the same broker, case and kind of threads by {@code found}. */
    public Presets with(List<Preset> found) {
        List<Preset> all = new ArrayList<>(presets);
        for (Preset one : found) {
            all.removeIf(old -> old.broker().equals(one.broker())
                    && old.benchCase() == one.benchCase()
                    && old.tuning().virtualThreads() == one.tuning().virtualThreads());
            all.add(one);
        }
        all.sort(Comparator.comparing(Preset::broker)
                .thenComparing(Preset::benchCase)
                .thenComparing(preset -> preset.tuning().virtualThreads()));
        return new Presets(all);
    }

    /** The fastest preset for a broker and case that {@code allowed} accepts. */
    public Preset best(String broker, ProduceCase produceCase, Predicate<Preset> allowed) {
        return presets.stream()
                .filter(preset -> preset.broker().equals(broker) && preset.benchCase() == produceCase.number())
                .filter(allowed)
                .max(Comparator.comparing(Preset::score))
                .orElseThrow(() -> new BenchException(
                        "there is no preset of " + broker + " for case " + produceCase.number()
                                + " that this JDK can run",
                        "use --sweep, or other --callers"));
    }

    public List<Preset> all() {
        return presets;
    }

    /**
     * The best settings of a broker in one case with one kind of threads.
     *
     * @param benchCase number of the case
     * @param score messages per second with these settings
     * @param foundWith machine, JDK, commit and date of the sweep
     * @param trials the settings that were tried, in order, with their results
     */
    public record Preset(
            String broker, int benchCase, Tuning tuning, long score, String foundWith, List<String> trials) {}
}
