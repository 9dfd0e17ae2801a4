package io.journalq.client.admin;

import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * A topic to create. Immutable.
 *
 * @param name letters, digits, '.', '_' and '-'
 * @param partitionCount at least 1, or {@link #BROKER_DEFAULT}
 * @param replicationFactor at least 1, or {@link #BROKER_DEFAULT}
 * @param configs topic configs that differ from the broker's defaults
 */
public record NewTopic(String name, int partitionCount, int replicationFactor, Map<String, String> configs) {
    /** Leaves the choice to the broker. */
    public static final int BROKER_DEFAULT = -1;

    public NewTopic {
        Objects.requireNonNull(name, "a topic needs a name");
        configs = Map.copyOf(configs);
    }

    /** A topic with the broker's default replication factor and configs. */
    public static NewTopic of(String name, int partitionCount) {
        return new NewTopic(name, partitionCount, BROKER_DEFAULT, Map.of());
    }

    public NewTopic withReplicationFactor(int factor) {
        return new NewTopic(name, partitionCount, factor, configs);
    }

    /** The same topic with one config more. */
    public NewTopic withConfig(String key, String value) {
        Map<String, String> more = new TreeMap<>(configs);
        more.put(key, value);
        return new NewTopic(name, partitionCount, replicationFactor, more);
    }
}
