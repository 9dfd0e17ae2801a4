package io.journalq.server.api.admin.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeQuorumRequest;
import io.journalq.common.protocol.message.DescribeQuorumResponse;
import io.journalq.common.protocol.message.DescribeQuorumResponse.Listener;
import io.journalq.common.protocol.message.DescribeQuorumResponse.Node;
import io.journalq.common.protocol.message.DescribeQuorumResponse.PartitionData;
import io.journalq.common.protocol.message.DescribeQuorumResponse.ReplicaState;
import io.journalq.common.protocol.message.DescribeQuorumResponse.TopicData;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataLog.Members;
import io.journalq.server.control.MetadataLog.QuorumState;
import io.journalq.server.control.MetadataLog.VoterState;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.security.Right;
import java.time.Clock;
import java.util.List;
import java.util.Objects;

/**
 * DescribeQuorum, versions 0 to 2 (KIP-595, KIP-836, KIP-853): the voters of the metadata log and its leader. Offsets
 * count the entries of the log, which hold several records each; without a quorum, they count the records.
 */
public final class DescribeQuorumHandler implements Handler<DescribeQuorumRequest> {
    private static final String METADATA_TOPIC = "__cluster_metadata";
    private static final int METADATA_PARTITION = 0;
    private static final short FIRST_VERSION_WITH_DIRECTORIES_AND_NODES = 2;

    private final ClusterBrokers brokers;
    private final Controller controller;
    private final Clock clock;

    public DescribeQuorumHandler(ClusterBrokers brokers, Controller controller, Clock clock) {
        this.brokers = brokers;
        this.controller = controller;
        this.clock = clock;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_QUORUM, 0, 2, AccessRule.asks(Right.DESCRIBE_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, DescribeQuorumRequest request) {
        if (!context.allows(Right.DESCRIBE_CLUSTER)) {
            context.respond(new DescribeQuorumResponse()
                    .setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code())
                    .setErrorMessage(context.denial()));
            return;
        }
        DescribeQuorumResponse response = new DescribeQuorumResponse()
                .setTopics(request.topics().stream()
                        .map(topic -> new TopicData()
                                .setTopicName(topic.topicName())
                                .setPartitions(topic.partitions().stream()
                                        .map(partition -> describe(
                                                context.apiVersion(), topic.topicName(), partition.partitionIndex()))
                                        .toList()))
                        .toList());
        if (context.apiVersion() >= FIRST_VERSION_WITH_DIRECTORIES_AND_NODES) {
            response.setNodes(controller.members().voters().stream()
                    .map(brokers::live)
                    .filter(Objects::nonNull)
                    .map(broker -> node(broker, brokers.addressOf(broker, context)))
                    .filter(Objects::nonNull)
                    .toList());
        }
        context.respond(response);
    }

    /** Null if the broker does not have the client's listener. */
    private static Node node(BrokerImage broker, ListenerAddress address) {
        return address == null
                ? null
                : new Node()
                        .setNodeId(broker.nodeId())
                        .setListeners(List.of(new Listener()
                                .setName(address.name())
                                .setHost(address.host())
                                .setPort(address.port())));
    }

    private PartitionData describe(short version, String topic, int partition) {
        PartitionData data = new PartitionData().setPartitionIndex(partition);
        if (!topic.equals(METADATA_TOPIC) || partition != METADATA_PARTITION) {
            return data.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code())
                    .setErrorMessage("the only quorum is that of " + METADATA_TOPIC + "-" + METADATA_PARTITION);
        }
        Members members = controller.members();
        data.setLeaderId(members.leaderId()).setLeaderEpoch(members.term());
        QuorumState state = controller.quorumState();
        if (state != null) {
            return data.setHighWatermark(state.highWatermark())
                    .setCurrentVoters(state.voters().stream()
                            .map(voter -> voter(version, voter))
                            .toList());
        }
        if (controller.inQuorum()) {
            return data.setErrorCode(ErrorCode.NOT_LEADER_OR_FOLLOWER.code())
                    .setErrorMessage("this broker is not the controller, and cannot reach it");
        }
        long endOffset = brokers.images().get().version();
        return data.setHighWatermark(endOffset)
                .setCurrentVoters(List.of(new ReplicaState()
                        .setReplicaId(members.leaderId())
                        .setLogEndOffset(endOffset)
                        .setLastCaughtUpTimestamp(clock.millis())));
    }

    private ReplicaState voter(short version, VoterState voter) {
        ReplicaState replica = new ReplicaState()
                .setReplicaId(voter.nodeId())
                .setLogEndOffset(voter.logEndOffset())
                .setLastFetchTimestamp(clock.millis() - voter.silentMs());
        return version >= FIRST_VERSION_WITH_DIRECTORIES_AND_NODES
                ? replica.setReplicaDirectoryId(voter.directoryId())
                : replica;
    }
}
