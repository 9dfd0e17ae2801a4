package io.journalq.bench.cli;

import io.journalq.bench.compare.Comparison;
import io.journalq.bench.compare.Presets;
import io.journalq.bench.compare.Presets.Preset;
import io.journalq.bench.compare.Side;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.Callers;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.ProduceSettings.Workload;
import io.journalq.bench.produce.Tuning;
import io.journalq.common.commandline.DurationOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options that {@code compare} and {@code sweep} share, and what they describe. One thread. */
final class ComparisonOptions {
    private static final int MESSAGE_SIZE_BYTES = 1024;

    @Option(
            names = "--duration",
            defaultValue = "10s",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Duration of the measurement of each run (default: ${DEFAULT-VALUE}).")
    private Duration duration;

    @Option(
            names = "--warmup",
            defaultValue = "5s",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "Warm-up before each measurement (default: ${DEFAULT-VALUE}).")
    private Duration warmup;

    @Mixin
    private WorkloadOptions work;

    @Option(
            names = "--callers",
            defaultValue = "best",
            paramLabel = "KIND",
            description =
                    "Threads of cases 1 and 2: platform, virtual, or best, which is the faster kind for each broker"
                            + " (default: ${DEFAULT-VALUE}).")
    private CallerKind callers;

    @Option(
            names = "--threads",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Threads of cases 1 and 2 for both brokers (default: the best number for each broker).")
    private Integer threads;

    @Option(
            names = "--preset",
            paramLabel = "FILE",
            description = "Settings that a sweep found (default: the settings found on two cores, which are part of the"
                    + " distribution).")
    private Path presetFile;

    /** The kind of threads that send. */
    enum CallerKind {
        BEST,
        PLATFORM,
        VIRTUAL;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Generates the messages. Throws if the options contradict each other. */
    PayloadPool pool() {
        workload();
        return work.pool(MESSAGE_SIZE_BYTES);
    }

    private Workload workload() {
        return work.workload("", MESSAGE_SIZE_BYTES, ProduceCasesCommand.DEFAULT_CONSUMERS);
    }

    Comparison comparison(PayloadPool pool) {
        return new Comparison(workload(), pool, warmup, duration);
    }

    Presets presets() {
        return presetFile == null ? Presets.shipped() : Presets.read(presetFile);
    }

    /** The settings with which a side runs a case. */
    Tuning tuning(Presets presets, Side side, ProduceCase produceCase) {
        Tuning best = presets.best(side.name(), produceCase, this::allows).tuning();
        return threads == null || produceCase.batched() ? best : best.with(Tuning.THREADS, threads.toString());
    }

    /** Whether this JDK has, and the user wants, this kind of threads. Platform threads build the batches. */
    private boolean allows(Preset preset) {
        return preset.benchCase() > 2 || kinds().contains(preset.tuning().virtualThreads());
    }

    /** Searches for the best settings of each side and case. */
    Presets sweep(List<Side> sides, List<ProduceCase> cases, PayloadPool pool) throws InterruptedException {
        List<Preset> found = new ArrayList<>();
        for (Side side : sides) {
            for (ProduceCase one : cases) {
                for (boolean virtualThreads : one.batched() ? List.of(false) : kinds()) {
                    found.add(comparison(pool).sweep(one, side, virtualThreads));
                }
            }
        }
        return new Presets(found);
    }

    private List<Boolean> kinds() {
        return switch (callers) {
            case PLATFORM -> List.of(false);
            case VIRTUAL -> List.of(true);
            case BEST -> Runtime.version().feature() >= Callers.VIRTUAL_SINCE ? List.of(false, true) : List.of(false);
        };
    }

    String inWords() {
        int groups = work.groups();
        String readers = groups == 0 ? "by assignment" : groups == 1 ? "in one group" : "in " + groups + " groups";
        return "%d partitions, messages of %d B %s, batches of %d, readers %s, warm-up %.1f s, measured %.1f s"
                .formatted(
                        work.partitions(),
                        MESSAGE_SIZE_BYTES,
                        work.payload(),
                        work.batchSize(),
                        readers,
                        warmup.toMillis() / 1e3,
                        duration.toMillis() / 1e3);
    }
}
