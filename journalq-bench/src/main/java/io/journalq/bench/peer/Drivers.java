package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.JournalQClientDriver;
import io.journalq.bench.driver.KafkaClientsDriver;
import java.util.List;

/** The drivers by their names. Stateless. */
public final class Drivers {
    /** Every name, ours first. */
    public static final List<String> NAMES =
            List.of("journalq", "journalq-kafka-clients", "kafka", "nats", "jetstream");

    /** The same, for help texts. */
    public static final String WORDS = "journalq, journalq-kafka-clients, kafka, nats or jetstream";

    private Drivers() {}

    /** Makes a driver; its broker is not started yet. */
    public static Driver named(String name, DriverSettings settings) {
        return switch (name) {
            case "journalq" -> new KafkaProtocolDriver(name, "journalq", new JournalQClientDriver(), settings);
            case "journalq-kafka-clients" ->
                new KafkaProtocolDriver(name, "journalq", new KafkaClientsDriver(), settings);
            case "kafka" -> new KafkaProtocolDriver(name, "kafka", new KafkaClientsDriver(), settings);
            case "nats" -> new NatsDriver(settings);
            case "jetstream" -> new JetStreamDriver(settings);
            default ->
                throw new BenchException("no broker is called '" + name + "'", "use " + String.join(", ", NAMES));
        };
    }
}
