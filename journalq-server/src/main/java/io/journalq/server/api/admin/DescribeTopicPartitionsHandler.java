package io.journalq.server.api.admin;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeTopicPartitionsRequest;
import io.journalq.common.protocol.message.DescribeTopicPartitionsRequest.TopicRequest;
import io.journalq.common.protocol.message.DescribeTopicPartitionsResponse;
import io.journalq.common.protocol.message.DescribeTopicPartitionsResponse.Cursor;
import io.journalq.common.protocol.message.DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition;
import io.journalq.common.protocol.message.DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.TopicNameRules;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * DescribeTopicPartitions, version 0 (KIP-966): topics and their partitions, one page at a time. Topics are ordered by
 * name. A page that ends within a topic has a cursor for the next page.
 */
public final class DescribeTopicPartitionsHandler implements Handler<DescribeTopicPartitionsRequest> {
    /** Maximum number of partitions on a page, even if the client requests more. */
    static final int MAX_PAGE_PARTITIONS = 2_000;

    private final MetadataPublisher metadata;
    private final OfflineReplicas offline;

    public DescribeTopicPartitionsHandler(MetadataPublisher metadata, OfflineReplicas offline) {
        this.metadata = metadata;
        this.offline = offline;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, 0, AccessRule.asks(Right.DESCRIBE_TOPIC));
    }

    @Override
    public void handle(RequestContext context, DescribeTopicPartitionsRequest request) {
        MetadataImage image = metadata.current();
        TreeSet<String> names = new TreeSet<>();
        request.topics().stream().map(TopicRequest::name).forEach(names::add);
        if (request.topics().isEmpty()) {
            image.topics().stream()
                    .map(TopicImage::name)
                    .filter(name -> context.sees(Right.DESCRIBE_TOPIC, name))
                    .forEach(names::add);
        }
        String firstTopic = request.cursor() == null ? "" : request.cursor().topicName();
        int room = Math.max(1, Math.min(MAX_PAGE_PARTITIONS, request.responsePartitionLimit()));
        List<DescribeTopicPartitionsResponseTopic> topics = new ArrayList<>();
        DescribeTopicPartitionsResponse response = new DescribeTopicPartitionsResponse().setTopics(topics);
        for (String name : names.tailSet(firstTopic)) {
            if (room == 0) {
                context.respond(response.setNextCursor(new Cursor().setTopicName(name)));
                return;
            }
            if (!context.allows(Right.DESCRIBE_TOPIC, name)) {
                topics.add(new DescribeTopicPartitionsResponseTopic()
                        .setName(name)
                        .setErrorCode(ErrorCode.TOPIC_AUTHORIZATION_FAILED.code()));
                continue;
            }
            TopicImage topic = image.topic(name);
            if (topic == null) {
                topics.add(new DescribeTopicPartitionsResponseTopic()
                        .setName(name)
                        .setErrorCode(TopicNameRules.errorOfUnknown(name).code()));
                continue;
            }
            int count = topic.partitions().size();
            int first = request.cursor() != null && name.equals(firstTopic)
                    ? Math.max(0, Math.min(count, request.cursor().partitionIndex()))
                    : 0;
            int end = Math.min(count, first + room);
            topics.add(page(context, image, topic, first, end));
            room -= end - first;
            if (end < count) {
                context.respond(
                        response.setNextCursor(new Cursor().setTopicName(name).setPartitionIndex(end)));
                return;
            }
        }
        context.respond(response);
    }

    private DescribeTopicPartitionsResponseTopic page(
            RequestContext context, MetadataImage image, TopicImage topic, int first, int end) {
        List<DescribeTopicPartitionsResponsePartition> partitions = new ArrayList<>();
        for (int number = first; number < end; number++) {
            PartitionImage partition = topic.partitions().get(number);
            partitions.add(new DescribeTopicPartitionsResponsePartition()
                    .setPartitionIndex(number)
                    .setLeaderId(partition.leader())
                    .setLeaderEpoch(partition.leaderEpoch())
                    .setReplicaNodes(partition.replicas())
                    .setIsrNodes(partition.inSyncReplicas())
                    .setErrorCode((partition.hasLeader() ? ErrorCode.NONE : ErrorCode.LEADER_NOT_AVAILABLE).code())
                    .setEligibleLeaderReplicas(partition.eligibleLeaders())
                    .setLastKnownElr(partition.lastKnownEligible())
                    .setOfflineReplicas(offline.of(image, topic.id(), number)));
        }
        return new DescribeTopicPartitionsResponseTopic()
                .setName(topic.name())
                .setTopicId(topic.id())
                .setIsInternal(InternalTopics.contains(topic.name()))
                .setTopicAuthorizedOperations(context.authorizedOperations(AclResourceType.TOPIC, topic.name()))
                .setPartitions(partitions);
    }
}
