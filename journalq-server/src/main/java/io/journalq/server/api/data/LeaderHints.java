package io.journalq.server.api.data;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Names the leaders of partitions that another broker leads, so that clients need not ask for them (KIP-951). By the last
 * image of the log: a broker stops leading a partition before that image is published.
 */
record LeaderHints(ClusterBrokers brokers) {
    private static final short FIRST_PRODUCE_VERSION = 10;
    private static final short FIRST_FETCH_VERSION = 12;
    private static final short FIRST_FETCH_VERSION_WITH_NODES = 16;

    private static boolean isOfOtherLeader(short error) {
        return error == ErrorCode.NOT_LEADER_OR_FOLLOWER.code() || error == ErrorCode.FENCED_LEADER_EPOCH.code();
    }

    /** Adds the leaders of partitions whose error says that there is another one. */
    void addTo(RequestContext context, ProduceResponse response) {
        if (context.apiVersion() < FIRST_PRODUCE_VERSION) {
            return;
        }
        Set<Integer> named = new TreeSet<>();
        for (ProduceResponse.TopicProduceResponse topic : response.responses()) {
            for (ProduceResponse.PartitionProduceResponse partition : topic.partitionResponses()) {
                PartitionImage state = isOfOtherLeader(partition.errorCode())
                        ? find(topic.name(), topic.topicId(), partition.index())
                        : null;
                if (state != null) {
                    named.add(state.leader());
                    partition.setCurrentLeader(new ProduceResponse.LeaderIdAndEpoch()
                            .setLeaderId(state.leader())
                            .setLeaderEpoch(state.leaderEpoch()));
                }
            }
        }
        List<ProduceResponse.NodeEndpoint> nodes = new ArrayList<>();
        for (int id : named) {
            BrokerImage broker = brokers.live(id);
            ListenerAddress address = broker == null ? null : brokers.addressOf(broker, context);
            if (address != null) {
                nodes.add(new ProduceResponse.NodeEndpoint()
                        .setNodeId(id)
                        .setHost(address.host())
                        .setPort(address.port())
                        .setRack(broker.rack().isEmpty() ? null : broker.rack()));
            }
        }
        response.setNodeEndpoints(nodes);
    }

    /** Like the method for Produce. */
    void addTo(RequestContext context, FetchResponse response) {
        if (context.apiVersion() < FIRST_FETCH_VERSION) {
            return;
        }
        Set<Integer> named = new TreeSet<>();
        for (FetchResponse.FetchableTopicResponse topic : response.responses()) {
            for (FetchResponse.PartitionData partition : topic.partitions()) {
                PartitionImage state = isOfOtherLeader(partition.errorCode())
                        ? find(topic.topic(), topic.topicId(), partition.partitionIndex())
                        : null;
                if (state != null) {
                    named.add(state.leader());
                    partition.setCurrentLeader(new FetchResponse.LeaderIdAndEpoch()
                            .setLeaderId(state.leader())
                            .setLeaderEpoch(state.leaderEpoch()));
                }
            }
        }
        if (context.apiVersion() < FIRST_FETCH_VERSION_WITH_NODES) {
            return;
        }
        List<FetchResponse.NodeEndpoint> nodes = new ArrayList<>();
        for (int id : named) {
            BrokerImage broker = brokers.live(id);
            ListenerAddress address = broker == null ? null : brokers.addressOf(broker, context);
            if (address != null) {
                nodes.add(new FetchResponse.NodeEndpoint()
                        .setNodeId(id)
                        .setHost(address.host())
                        .setPort(address.port())
                        .setRack(broker.rack().isEmpty() ? null : broker.rack()));
            }
        }
        response.setNodeEndpoints(nodes);
    }

    /** The partition if it has a leader, otherwise null. */
    private PartitionImage find(String name, Uuid id, int number) {
        TopicImage topic = id == null || id.equals(Uuid.ZERO)
                ? brokers.images().get().topic(name)
                : brokers.images().get().topic(id);
        PartitionImage state =
                topic != null && topic.hasPartition(number) ? topic.partitions().get(number) : null;
        return state != null && state.leader() >= 0 ? state : null;
    }
}
