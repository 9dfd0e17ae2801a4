package io.journalq.client.admin;

import java.util.List;

/**
 * A cluster, as reported by one broker. Immutable.
 *
 * @param clusterId the id of the cluster, or null if the broker does not report it
 * @param controllerId the id of the controller, or -1 if unknown
 */
public record ClusterDescription(String clusterId, int controllerId, List<BrokerNode> brokers) {
    public ClusterDescription {
        brokers = List.copyOf(brokers);
    }
}
