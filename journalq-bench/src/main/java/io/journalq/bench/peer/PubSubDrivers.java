package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.JournalQClientDriver;
import io.journalq.bench.driver.KafkaClientsDriver;
import java.util.List;

/** The drivers by their names. Stateless. */
public final class PubSubDrivers {
    /** All names, JournalQ first. */
    public static final List<String> NAMES = List.of(
            "journalq",
            "journalq-kafka-clients",
            "kafka",
            "nats",
            "jetstream",
            RabbitStreamDriver.NAME,
            RabbitQuorumDriver.NAME);

    /** The names for help texts. */
    public static final String WORDS =
            "journalq, journalq-kafka-clients, kafka, nats, jetstream, rabbitmq-streams or rabbitmq-quorum";

    private PubSubDrivers() {}

    /** Makes a driver; its broker is not started yet. */
    public static PubSubDriver named(String name, PubSubSettings settings) {
        return switch (name) {
            case "journalq" -> new KafkaProtocolDriver(name, "journalq", new JournalQClientDriver(), settings);
            case "journalq-kafka-clients" ->
                new KafkaProtocolDriver(name, "journalq", new KafkaClientsDriver(), settings);
            case "kafka" -> new KafkaProtocolDriver(name, "kafka", new KafkaClientsDriver(), settings);
            case "nats" -> new CoreNatsDriver(settings);
            case "jetstream" -> new JetStreamDriver(settings);
            case RabbitStreamDriver.NAME -> new RabbitStreamDriver(settings);
            case RabbitQuorumDriver.NAME -> new RabbitQuorumDriver(settings);
            default ->
                throw BenchException.wrongUsage("'" + name + "' is not a broker", "use " + String.join(", ", NAMES));
        };
    }
}
