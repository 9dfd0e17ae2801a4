package io.journalq.client.internal.network;

import io.journalq.client.error.UnknownTopicException;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponsePartition;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponseTopic;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The state of the cluster according to the latest Metadata responses. Immutable.
 *
 * @param brokers addresses by broker id
 * @param topics the requested topics that exist, by name
 * @param errors the errors of requested topics that are not in {@code topics}, by name
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
     * The partitions of a topic. Do not modify the arrays.
     *
     * @param leaders the broker id of the leader by partition, -1 for none
     * @param leaderEpochs the leader epoch by partition, -1 if unknown
     */
    @SuppressWarnings("ArrayRecordComponent") // read on every send; shared by reference and never compared
    public record Topic(String name, Uuid id, int[] leaders, int[] leaderEpochs) {
        /**
         * Reads a topic of a response. The broker that responds may be behind: a leader that is known already stays if its
         * epoch is later.
         *
         * @param before what was known of the topic of that name; null if nothing was
         */
        static Topic of(MetadataResponseTopic topic, Topic before) {
            int count = 0;
            for (MetadataResponsePartition partition : topic.partitions()) {
                count = Math.max(
                        count,
                        Math.min(partition.partitionIndex(), topic.partitions().size() - 1) + 1);
            }
            int[] leaders = new int[count];
            int[] epochs = new int[count];
            Arrays.fill(leaders, NO_LEADER);
            Arrays.fill(epochs, NO_LEADER);
            for (MetadataResponsePartition partition : topic.partitions()) {
                int index = partition.partitionIndex();
                if (index >= 0 && index < count) {
                    leaders[index] = partition.leaderId();
                    epochs[index] = partition.leaderEpoch();
                }
            }
            if (before != null && before.id.equals(topic.topicId())) {
                for (int i = 0; i < Math.min(count, before.leaders.length); i++) {
                    if (epochs[i] >= 0 && epochs[i] < before.leaderEpochs[i]) {
                        leaders[i] = before.leaders[i];
                        epochs[i] = before.leaderEpochs[i];
                    }
                }
            }
            return new Topic(topic.name(), topic.topicId(), leaders, epochs);
        }

        public int partitionCount() {
            return leaders.length;
        }

        /** Returns the exception for a partition that does not exist. */
        public UnknownTopicException noPartition(int partition) {
            return new UnknownTopicException("topic " + name + " has no partition " + partition + "; it has "
                    + leaders.length + ", numbered from 0");
        }
    }

    /**
     * Returns this view with another leader of a partition.
     *
     * @param known the topic
     * @param address of the leader, which counts if its address is unknown; null if it is known
     */
    ClusterView withLeader(Topic known, int partition, int leader, int leaderEpoch, HostAndPort address) {
        int[] leaders = known.leaders.clone();
        int[] leaderEpochs = known.leaderEpochs.clone();
        leaders[partition] = leader;
        leaderEpochs[partition] = leaderEpoch;
        Map<String, Topic> newTopics = new HashMap<>(topics);
        newTopics.put(known.name, new Topic(known.name, known.id, leaders, leaderEpochs));
        Map<Integer, HostAndPort> newBrokers = new HashMap<>(brokers);
        if (address != null) {
            newBrokers.putIfAbsent(leader, address);
        }
        return new ClusterView(clusterId, controllerId, Map.copyOf(newBrokers), Map.copyOf(newTopics), errors);
    }

    /** Returns the broker id of the leader of a partition, or -1 if there is none or the partition is unknown. */
    public int leader(String topic, int partition) {
        Topic known = topics.get(topic);
        return known == null || partition >= known.leaders.length ? NO_LEADER : known.leaders[partition];
    }

    /** Returns the leader epoch of a partition, or -1 if unknown. */
    public int leaderEpoch(String topic, int partition) {
        Topic known = topics.get(topic);
        return known == null || partition >= known.leaderEpochs.length ? NO_LEADER : known.leaderEpochs[partition];
    }
}
