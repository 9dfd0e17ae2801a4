package io.journalq.bench.option;

import io.journalq.bench.peer.Delivery;
import picocli.CommandLine.Option;

/** The topics of a scenario with one delivery guarantee. One thread. */
public final class TopicOptions {
    @Option(names = "--delivery", paramLabel = "GUARANTEE", description = Delivery.WORDS + " (default: at-least-once).")
    private Delivery delivery;

    @Option(
            names = "--partitions",
            defaultValue = "16",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Partitions of each topic that is created (default: ${DEFAULT-VALUE}).")
    private int partitions;

    public Delivery delivery() {
        return delivery == null ? Delivery.AT_LEAST_ONCE : delivery;
    }

    /** Whether the user chose the guarantee. */
    public boolean isDeliveryGiven() {
        return delivery != null;
    }

    public int partitions() {
        return partitions;
    }
}
