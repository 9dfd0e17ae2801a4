package io.journalq.client.admin;

import java.util.List;

/**
 * The cluster as one broker sees it. Immutable.
 *
 * @param clusterId null when the broker does not tell
 * @param controllerId -1 when unknown
 */
public record ClusterDescription(String clusterId, int controllerId, List<BrokerNode> brokers) {
    public ClusterDescription {
        brokers = List.copyOf(brokers);
    }
}
