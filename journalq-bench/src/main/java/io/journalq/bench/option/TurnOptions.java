package io.journalq.bench.option;

import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Who is measured, how often and how long, the same for scenarios in which brokers take turns. One thread. */
public final class TurnOptions {
    @Mixin
    private RepetitionOptions repetitions;

    @Option(names = "--duration", defaultValue = "5s", description = "Measured time of each. Default: 5s.")
    private Duration duration;

    @Option(names = "--warmup", defaultValue = "2s", description = "Before the measured time. Default: 2s.")
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
