package io.journalq.bench.option;

import io.journalq.bench.peer.PubSubDrivers;
import java.util.List;
import picocli.CommandLine.Option;

/** Which brokers are measured and how often, for scenarios in which brokers take turns. One thread. */
public final class RepetitionOptions {
    @Option(
            names = "--brokers",
            split = ",",
            defaultValue = "journalq",
            paramLabel = "NAME",
            converter = OptionTypes.BrokerName.class,
            description = "Brokers to measure, in this order: " + PubSubDrivers.WORDS + " (default: ${DEFAULT-VALUE}).")
    private List<String> brokers;

    @Option(
            names = "--repetitions",
            defaultValue = "1",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Repetitions of each measurement on each broker, alternating between the brokers"
                    + " (default: ${DEFAULT-VALUE}).")
    private int repetitions;

    public List<String> brokers() {
        return brokers;
    }

    public int repetitions() {
        return repetitions;
    }
}
