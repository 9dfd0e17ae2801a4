package io.journalq.bench.peer;

import java.util.List;
import java.util.Map;
import io.journalq.bench.BenchException;

/**
 * How a broker is reached and set up.
 *
 * @param delivery what both sides promise
 * @param publishTargets {@code host:port} where publishers connect, in turn; empty to start a broker
 * @param subscribeTarget {@code host:port} where subscribers connect; empty for the first of the above
 * @param compression a codec's name, or {@code none}; for brokers that compress
 * @param brokerSettings of the broker that is started, by its own names
 * @param clientSettings of the client library, by its own names; those of consumers begin with {@code consumer.}
 */
public record PubSubSettings(
        Delivery delivery,
        List<String> publishTargets,
        String subscribeTarget,
        String compression,
        Map<String, String> brokerSettings,
        Map<String, String> clientSettings) {

    /** A broker that is started, with its defaults. */
    public static PubSubSettings of(Delivery delivery) {
        return new PubSubSettings(delivery, List.of(), "", "none", Map.of(), Map.of());
    }

    /** Whether the broker runs already. */
    public boolean isExternal() {
        return !publishTargets.isEmpty();
    }

    /** Where publisher number {@code number} connects. */
    public String publishTarget(int number) {
        return publishTargets.get(number % publishTargets.size());
    }

    /** A number of the client's settings. */
    public int clientNumber(String name, int otherwise) {
        String given = clientSettings.get(name);
        try {
            return given == null ? otherwise : Integer.parseInt(given);
        } catch (NumberFormatException e) {
            throw new BenchException(name + " cannot be '" + given + "'", "give a number", e);
        }
    }

    /** Where subscribers connect. */
    public String subscriberTarget() {
        return subscribeTarget.isEmpty() ? publishTargets.get(0) : subscribeTarget;
    }
}
