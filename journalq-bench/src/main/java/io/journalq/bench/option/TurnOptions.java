package io.journalq.bench.option;

import io.journalq.common.commandline.DurationOption;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which brokers are measured, how often and how long, for scenarios in which brokers take turns. One thread. */
public final class TurnOptions {
    @Mixin
    private RepetitionOptions repetitions;

    @Option(
            names = "--duration",
            defaultValue = "5s",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Duration of each measurement (default: ${DEFAULT-VALUE}).")
    private Duration duration;

    @Option(
            names = "--warmup",
            defaultValue = "2s",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "Warm-up before each measurement (default: ${DEFAULT-VALUE}).")
    private Duration warmup;

    public List<String> brokers() {
        return repetitions.brokers();
    }

    public int repetitions() {
        return repetitions.repetitions();
    }

    public Duration duration() {
        return duration;
    }

    public Duration warmup() {
        return warmup;
    }
}
