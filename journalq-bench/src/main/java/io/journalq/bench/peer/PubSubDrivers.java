package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ConnectionSecurity;
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

    private static final List<String> OF_KAFKA_PROTOCOL = List.of("journalq", "journalq-kafka-clients", "kafka");

    /** Several brokers of these can be started. */
    private static final List<String> OF_CLUSTERS = List.of("journalq", "journalq-kafka-clients", "kafka", "jetstream");

    private PubSubDrivers() {}

    /** Makes a driver; its broker is not started yet. */
    public static PubSubDriver named(String name, PubSubSettings settings) {
        ConnectionSecurity security = settings.security();
        if (!security.equals(ConnectionSecurity.NONE) && !OF_KAFKA_PROTOCOL.contains(name)) {
            throw BenchException.wrongUsage(
                    "the options of TLS and logins do not apply to " + name,
                    "use them with " + String.join(", ", OF_KAFKA_PROTOCOL));
        }
        if (settings.cluster().isCluster() && !OF_CLUSTERS.contains(name)) {
            throw BenchException.wrongUsage(
                    "only one broker of " + name + " can be started", "use " + String.join(", ", OF_CLUSTERS));
        }
        return switch (name) {
            case "journalq" ->
                new KafkaProtocolDriver(name, "journalq", new JournalQClientDriver(security, null), settings);
            case "journalq-kafka-clients" ->
                new KafkaProtocolDriver(name, "journalq", new KafkaClientsDriver(security), settings);
            case "kafka" -> new KafkaProtocolDriver(name, "kafka", new KafkaClientsDriver(security), settings);
            case "nats" -> {
                requireClient(name, "io.nats.client.Nats");
                yield new CoreNatsDriver(settings);
            }
            case "jetstream" -> {
                requireClient(name, "io.nats.client.Nats");
                yield new JetStreamDriver(settings);
            }
            case RabbitStreamDriver.NAME -> {
                requireClient(name, "com.rabbitmq.stream.Environment");
                yield new RabbitStreamDriver(settings);
            }
            case RabbitQuorumDriver.NAME -> {
                requireClient(name, "com.rabbitmq.client.ConnectionFactory");
                yield new RabbitQuorumDriver(settings);
            }
            default ->
                throw BenchException.wrongUsage("'" + name + "' is not a broker", "use " + String.join(", ", NAMES));
        };
    }

    /** A checkout has the clients of all brokers, the archive has only those of the Kafka protocol. */
    private static void requireClient(String broker, String className) {
        try {
            Class.forName(className, false, PubSubDrivers.class.getClassLoader());
        } catch (ClassNotFoundException absent) {
            throw new BenchException(
                    "the archive does not contain a client of " + broker,
                    "run bin/journalq-bench of a source checkout");
        }
    }
}
