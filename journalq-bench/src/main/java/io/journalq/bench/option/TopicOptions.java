package io.journalq.bench.option;

import io.journalq.bench.peer.Delivery;
import picocli.CommandLine.Option;

/** The topics of a scenario with one delivery guarantee. One thread. */
public final class TopicOptions {
    @Option(
            names = "--delivery",
            defaultValue = "at-least-once",
            paramLabel = "GUARANTEE",
            description = Delivery.WORDS + " (default: ${DEFAULT-VALUE}).")
    private Delivery delivery;

    @Option(
            names = "--partitions",
            defaultValue = "16",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Partitions of each topic that is created (default: ${DEFAULT-VALUE}).")
    private int partitions;

    public Delivery delivery() {
        return delivery;
    }

    public int partitions() {
        return partitions;
    }
}
