package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClusterShape;
import io.journalq.bench.driver.ConnectionSecurity;
import java.util.List;
import java.util.Map;

/**
 * The address and the configuration of a broker.
 *
 * @param delivery delivery guarantee
 * @param publishTargets {@code host:port} to which publishers connect in turn; empty to start a broker
 * @param subscribeTarget {@code host:port} to which subscribers connect; empty for the first of {@code publishTargets}
 * @param compression name of a codec, or {@code none}; for brokers that support compression
 * @param brokerSettings settings of a broker that is started, by its own names
 * @param security how clients of brokers of the Kafka protocol connect
 * @param cluster the brokers to start
 * @param clientSettings settings of the client library, by its own names; those of consumers have the prefix {@code
 *     consumer.}
 */
public record PubSubSettings(
        Delivery delivery,
        List<String> publishTargets,
        String subscribeTarget,
        String compression,
        Map<String, String> brokerSettings,
        ConnectionSecurity security,
        ClusterShape cluster,
        Map<String, String> clientSettings) {

    /** The settings that start a broker with its defaults. */
    public static PubSubSettings of(Delivery delivery) {
        return of(delivery, Map.of());
    }

    /** The settings that start a broker. {@code brokerSettings} are by its own names. */
    public static PubSubSettings of(Delivery delivery, Map<String, String> brokerSettings) {
        return new PubSubSettings(
                delivery,
                List.of(),
                "",
                "none",
                brokerSettings,
                ConnectionSecurity.NONE,
                ClusterShape.SINGLE,
                Map.of());
    }

    /** Whether the broker is already running. */
    public boolean isExternal() {
        return !publishTargets.isEmpty();
    }

    /** The address to which publisher {@code number} connects. */
    public String publishTarget(int number) {
        return publishTargets.get(number % publishTargets.size());
    }

    /** A numeric setting of the client, {@code otherwise} if it is not set. */
    public int clientNumber(String name, int otherwise) {
        String given = clientSettings.get(name);
        try {
            return given == null ? otherwise : Integer.parseInt(given);
        } catch (NumberFormatException e) {
            throw BenchException.wrongUsage(name + " cannot be '" + given + "'", "use a number");
        }
    }

    /** The address to which subscribers connect. */
    public String subscriberTarget() {
        return subscribeTarget.isEmpty() ? publishTargets.get(0) : subscribeTarget;
    }
}
