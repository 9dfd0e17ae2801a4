package io.journalq.client.network;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import java.util.Map;

/**
 * What the last Metadata answers said. Immutable.
 *
 * @param brokers addresses by broker id
 * @param topics every topic that was asked for and exists, by name
 * @param errors why a topic that was asked for is not among them
 */
public record ClusterView(
        String clusterId,
        int controllerId,
        Map<Integer, HostAndPort> brokers,
        Map<String, Topic> topics,
        Map<String, ErrorCode> errors) {
    static final int NO_LEADER = -1;
    static final ClusterView EMPTY = new ClusterView(null, NO_LEADER, Map.of(), Map.of(), Map.of());

    /**
     * A topic's partitions. The arrays are not to be written to.
     *
     * @param leaders broker id by partition, -1 for none
     * @param leaderEpochs by partition, -1 when unknown
     */
    @SuppressWarnings("ArrayRecordComponent") // read on every send; shared by reference, compared by nobody
    public record Topic(String name, Uuid id, int[] leaders, int[] leaderEpochs) {
        public int partitionCount() {
            return leaders.length;
        }
    }

    /** Broker id of a partition's leader; -1 when there is none or the partition is unknown. */
    public int leader(String topic, int partition) {
        Topic known = topics.get(topic);
        return known == null || partition >= known.leaders.length ? NO_LEADER : known.leaders[partition];
    }

    /** The epoch of {@link #leader}; -1 when unknown. */
    public int leaderEpoch(String topic, int partition) {
        Topic known = topics.get(topic);
        return known == null || partition >= known.leaderEpochs.length ? NO_LEADER : known.leaderEpochs[partition];
    }
}
