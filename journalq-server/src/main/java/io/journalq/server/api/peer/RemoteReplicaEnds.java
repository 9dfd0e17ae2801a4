package io.journalq.server.api.peer;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetForLeaderEpochRequest;
import io.journalq.common.protocol.message.OffsetForLeaderEpochResponse;
import io.journalq.server.control.ReplicaEnds;
import io.journalq.server.peer.PeerRequests;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Asks brokers for the ends of their replicas, by requests of the Kafka protocol. Any thread. */
public final class RemoteReplicaEnds implements ReplicaEnds {
    private static final int VERSION = 4;
    private static final int TIMEOUT_MS = 2_000;
    /** Instead of a leader epoch: asks for the newest one of any replica. */
    private static final int NEWEST_EPOCH = -1;

    private final int nodeId;
    private final PeerRequests requests;

    /**
     * Creates an instance.
     *
     * @param nodeId this broker
     */
    public RemoteReplicaEnds(int nodeId, PeerRequests requests) {
        this.nodeId = nodeId;
        this.requests = requests;
    }

    @Override
    public CompletableFuture<Map<TopicPartition, LogEnd>> of(int broker, List<TopicPartition> partitions) {
        Map<String, List<OffsetForLeaderEpochRequest.OffsetForLeaderPartition>> asked = new LinkedHashMap<>();
        for (TopicPartition partition : partitions) {
            asked.computeIfAbsent(partition.topic(), none -> new ArrayList<>())
                    .add(new OffsetForLeaderEpochRequest.OffsetForLeaderPartition()
                            .setPartition(partition.partition())
                            .setCurrentLeaderEpoch(NEWEST_EPOCH)
                            .setLeaderEpoch(NEWEST_EPOCH));
        }
        List<OffsetForLeaderEpochRequest.OffsetForLeaderTopic> topics = new ArrayList<>();
        asked.forEach((topic, ofTopic) -> topics.add(new OffsetForLeaderEpochRequest.OffsetForLeaderTopic()
                .setTopic(topic)
                .setPartitions(ofTopic)));
        OffsetForLeaderEpochRequest request =
                new OffsetForLeaderEpochRequest().setReplicaId(nodeId).setTopics(topics);
        return requests.send(
                broker, request, VERSION, TIMEOUT_MS, response -> ends((OffsetForLeaderEpochResponse) response));
    }

    private static Map<TopicPartition, LogEnd> ends(OffsetForLeaderEpochResponse response) {
        Map<TopicPartition, LogEnd> ends = new HashMap<>();
        for (OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult topic : response.topics()) {
            for (OffsetForLeaderEpochResponse.EpochEndOffset end : topic.partitions()) {
                if (end.errorCode() == ErrorCode.NONE.code()) {
                    ends.put(
                            new TopicPartition(topic.topic(), end.partition()),
                            new LogEnd(end.leaderEpoch(), end.endOffset()));
                }
            }
        }
        return ends;
    }
}
