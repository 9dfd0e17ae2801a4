package io.journalq.bench.option;

import io.journalq.bench.peer.PubSubDrivers;
import java.util.List;
import picocli.CommandLine.Option;

/** Who is measured and how often, the same for scenarios in which brokers take turns. One thread. */
public final class RepetitionOptions {
    @Option(
            names = "--brokers",
            split = ",",
            defaultValue = "journalq",
            description = "Measured in turn: any of " + PubSubDrivers.WORDS + ". Default: journalq.")
    private List<String> brokers;

    @Option(
            names = "--repetitions",
            defaultValue = "1",
            description = "Of each measurement on each broker, in turn (A B A B). Default: 1.")
    private int repetitions;

    public List<String> brokers() {
        return brokers;
    }

    public int repetitions() {
        Options.requirePositive("--repetitions", repetitions);
        return repetitions;
    }
}
