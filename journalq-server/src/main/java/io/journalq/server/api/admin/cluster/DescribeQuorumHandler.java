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
import io.journalq.server.api.BrokerIdentity;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataLog.Members;
import io.journalq.server.metadata.MetadataImage;
import java.time.Clock;
import java.util.List;
import java.util.function.Supplier;

/**
 * DescribeQuorum, versions 0 to 2 (KIP-595, KIP-836, KIP-853): the metadata log has one voter, which is its leader.
 * Offsets count the records of the log.
 */
public final class DescribeQuorumHandler implements Handler<DescribeQuorumRequest> {
    private static final String METADATA_TOPIC = "__cluster_metadata";
    private static final int METADATA_PARTITION = 0;
    private static final short FIRST_VERSION_WITH_NODES = 2;

    private final BrokerIdentity identity;
    private final Controller controller;
    private final Supplier<MetadataImage> images;
    private final Clock clock;

    public DescribeQuorumHandler(
            BrokerIdentity identity, Controller controller, Supplier<MetadataImage> images, Clock clock) {
        this.identity = identity;
        this.controller = controller;
        this.images = images;
        this.clock = clock;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_QUORUM, 0, 2);
    }

    @Override
    public void handle(RequestContext context, DescribeQuorumRequest request) {
        DescribeQuorumResponse response = new DescribeQuorumResponse()
                .setTopics(request.topics().stream()
                        .map(topic -> new TopicData()
                                .setTopicName(topic.topicName())
                                .setPartitions(topic.partitions().stream()
                                        .map(partition -> describe(topic.topicName(), partition.partitionIndex()))
                                        .toList()))
                        .toList());
        if (context.apiVersion() >= FIRST_VERSION_WITH_NODES) {
            response.setNodes(List.of(node(identity.addressFor(context))));
        }
        context.respond(response);
    }

    private Node node(ListenerAddress address) {
        return new Node()
                .setNodeId(identity.nodeId())
                .setListeners(List.of(new Listener()
                        .setName(address.name())
                        .setHost(address.host())
                        .setPort(address.port())));
    }

    private PartitionData describe(String topic, int partition) {
        PartitionData data = new PartitionData().setPartitionIndex(partition);
        if (!topic.equals(METADATA_TOPIC) || partition != METADATA_PARTITION) {
            return data.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code())
                    .setErrorMessage("the only quorum is that of " + METADATA_TOPIC + "-" + METADATA_PARTITION);
        }
        long endOffset = images.get().version();
        Members members = controller.members();
        return data.setLeaderId(members.leaderId())
                .setLeaderEpoch(members.term())
                .setHighWatermark(endOffset)
                .setCurrentVoters(members.voters().stream()
                        .map(voter -> new ReplicaState()
                                .setReplicaId(voter)
                                .setLogEndOffset(endOffset)
                                .setLastCaughtUpTimestamp(clock.millis()))
                        .toList());
    }
}
