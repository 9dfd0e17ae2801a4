package io.journalq.client.admin;

import static io.journalq.client.internal.check.Arguments.noNulls;
import static io.journalq.client.internal.check.Arguments.notNull;

import java.util.Map;
import java.util.TreeMap;

/**
 * A topic to create. Immutable.
 *
 * @param name 1 to 249 letters, digits, '.', '_' and '-'
 * @param partitionCount at least 1, or {@link #BROKER_DEFAULT}
 * @param replicationFactor at least 1, or {@link #BROKER_DEFAULT}
 * @param configs the configurations that differ from the defaults of the broker
 */
public record NewTopic(String name, int partitionCount, int replicationFactor, Map<String, String> configs) {
    /** Uses the default of the broker. */
    public static final int BROKER_DEFAULT = -1;

    public NewTopic {
        notNull(name, "name");
        configs = Map.copyOf(noNulls(configs, "configs"));
    }

    /** Creates a topic with the default replication factor and configurations of the broker. */
    public static NewTopic of(String name, int partitionCount) {
        return new NewTopic(name, partitionCount, BROKER_DEFAULT, Map.of());
    }

    public NewTopic withReplicationFactor(int factor) {
        return new NewTopic(name, partitionCount, factor, configs);
    }

    /** Returns a copy with one more configuration. */
    public NewTopic withConfig(String key, String value) {
        Map<String, String> more = new TreeMap<>(configs);
        more.put(notNull(key, "key"), notNull(value, "value"));
        return new NewTopic(name, partitionCount, replicationFactor, more);
    }
}
