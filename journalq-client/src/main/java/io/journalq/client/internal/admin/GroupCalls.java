package io.journalq.client.internal.admin;

import io.journalq.client.admin.GroupDescription;
import io.journalq.client.admin.GroupListing;
import io.journalq.client.error.UnknownGroupException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.internal.coordinator.Coordinator;
import io.journalq.client.internal.network.BlockingCalls;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.network.Errors;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupDescribeRequest;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse;
import io.journalq.common.protocol.message.DeleteGroupsRequest;
import io.journalq.common.protocol.message.DeleteGroupsResponse;
import io.journalq.common.protocol.message.DescribeGroupsRequest;
import io.journalq.common.protocol.message.DescribeGroupsResponse;
import io.journalq.common.protocol.message.ListGroupsRequest;
import io.journalq.common.protocol.message.ListGroupsResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.OffsetDeleteRequest;
import io.journalq.common.protocol.message.OffsetDeleteResponse;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Requests about groups. Thread-safe; any thread except the event loop. */
public final class GroupCalls {
    private static final int LIST_GROUPS_NEWEST = 5;
    private static final int CONSUMER_GROUP_DESCRIBE_NEWEST = 1;
    private static final int DESCRIBE_GROUPS_NEWEST = 6;
    private static final int OFFSET_COMMIT_NEWEST = 9;
    private static final int OFFSET_DELETE_NEWEST = 0;
    private static final int DELETE_GROUPS_NEWEST = 2;
    private static final int NO_MEMBER_EPOCH = -1;

    private final Cluster cluster;
    private final BlockingCalls calls;

    public GroupCalls(Cluster cluster, BlockingCalls calls) {
        this.cluster = cluster;
        this.calls = calls;
    }

    /** Returns the groups that the brokers coordinate, sorted by id. */
    public List<GroupListing> list(ClusterCalls brokers) {
        List<GroupListing> groups = brokers.askAll(this::list);
        groups.sort(Comparator.comparing(GroupListing::groupId));
        return groups;
    }

    private List<GroupListing> list(int brokerId) {
        ListGroupsResponse response = calls.call(
                brokerId,
                ApiKey.LIST_GROUPS,
                LIST_GROUPS_NEWEST,
                ListGroupsResponse.class,
                version -> new ListGroupsRequest());
        if (response.errorCode() != ErrorCode.NONE.code()) {
            throw Errors.of(ErrorCode.of(response.errorCode()), "groups of broker " + brokerId, null);
        }
        return response.groups().stream()
                .map(group ->
                        new GroupListing(group.groupId(), group.protocolType(), group.groupState(), group.groupType()))
                .toList();
    }

    /** Describes a group of the classic or the consumer protocol. */
    public GroupDescription describe(String groupId) {
        String subject = "description of group " + groupId;
        try {
            return ask(
                    groupId,
                    new GroupRequest<>(
                            ApiKey.CONSUMER_GROUP_DESCRIBE,
                            ConsumerGroupDescribeResponse.class,
                            CONSUMER_GROUP_DESCRIBE_NEWEST,
                            subject,
                            version -> new ConsumerGroupDescribeRequest().setGroupIds(List.of(groupId)),
                            response -> response.groups().stream()
                                    .map(ConsumerGroupDescribeResponse.DescribedGroup::errorCode)
                                    .toList(),
                            response -> GroupResponses.read(response.groups().get(0))));
        } catch (UnknownGroupException | UnsupportedByBrokerException classicThen) {
            return ask(
                    groupId,
                    new GroupRequest<>(
                            ApiKey.DESCRIBE_GROUPS,
                            DescribeGroupsResponse.class,
                            DESCRIBE_GROUPS_NEWEST,
                            subject,
                            version -> new DescribeGroupsRequest().setGroups(List.of(groupId)),
                            response -> response.groups().stream()
                                    .map(DescribeGroupsResponse.DescribedGroup::errorCode)
                                    .toList(),
                            response -> GroupResponses.read(response.groups().get(0))));
        }
    }

    /** Returns all committed offsets of a group. */
    public Map<TopicPartition, CommittedOffset> offsets(String groupId) {
        return ask(
                groupId,
                new GroupRequest<>(
                        ApiKey.OFFSET_FETCH,
                        OffsetFetchResponse.class,
                        GroupResponses.OFFSET_FETCH_NEWEST,
                        "offsets of group " + groupId,
                        version -> GroupResponses.offsetFetch(groupId, version),
                        GroupResponses::errorsOf,
                        GroupResponses::read));
    }

    /** Commits offsets on behalf of a group without members. */
    public void alterOffsets(String groupId, Map<TopicPartition, CommittedOffset> offsets) {
        Map<String, List<OffsetCommitRequest.OffsetCommitRequestPartition>> topics = new LinkedHashMap<>();
        offsets.forEach((partition, offset) -> topics.computeIfAbsent(partition.topic(), name -> new ArrayList<>())
                .add(new OffsetCommitRequest.OffsetCommitRequestPartition()
                        .setPartitionIndex(partition.partition())
                        .setCommittedOffset(offset.offset())
                        .setCommittedLeaderEpoch(offset.leaderEpoch())
                        .setCommittedMetadata(offset.metadata())));
        List<OffsetCommitRequest.OffsetCommitRequestTopic> committed = topics.entrySet().stream()
                .map(topic -> new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName(topic.getKey())
                        .setPartitions(topic.getValue()))
                .toList();
        ask(
                groupId,
                new GroupRequest<>(
                        ApiKey.OFFSET_COMMIT,
                        OffsetCommitResponse.class,
                        OFFSET_COMMIT_NEWEST,
                        "change of offsets of group " + groupId,
                        version -> new OffsetCommitRequest()
                                .setGroupId(groupId)
                                .setGenerationIdOrMemberEpoch(NO_MEMBER_EPOCH)
                                .setTopics(committed),
                        response -> response.topics().stream()
                                .flatMap(topic -> topic.partitions().stream())
                                .map(OffsetCommitResponse.OffsetCommitResponsePartition::errorCode)
                                .toList(),
                        response -> true));
    }

    /** Deletes committed offsets of topics to which no member is subscribed. */
    public void deleteOffsets(String groupId, Collection<TopicPartition> partitions) {
        Map<String, List<OffsetDeleteRequest.OffsetDeleteRequestPartition>> topics = new LinkedHashMap<>();
        partitions.forEach(partition -> topics.computeIfAbsent(partition.topic(), name -> new ArrayList<>())
                .add(new OffsetDeleteRequest.OffsetDeleteRequestPartition().setPartitionIndex(partition.partition())));
        List<OffsetDeleteRequest.OffsetDeleteRequestTopic> deleted = topics.entrySet().stream()
                .map(topic -> new OffsetDeleteRequest.OffsetDeleteRequestTopic()
                        .setName(topic.getKey())
                        .setPartitions(topic.getValue()))
                .toList();
        ask(
                groupId,
                new GroupRequest<>(
                        ApiKey.OFFSET_DELETE,
                        OffsetDeleteResponse.class,
                        OFFSET_DELETE_NEWEST,
                        "deletion of offsets of group " + groupId,
                        version -> new OffsetDeleteRequest().setGroupId(groupId).setTopics(deleted),
                        GroupResponses::errorsOf,
                        response -> true));
    }

    /** Deletes a group without members, with its committed offsets. */
    public void delete(String groupId) {
        ask(
                groupId,
                new GroupRequest<>(
                        ApiKey.DELETE_GROUPS,
                        DeleteGroupsResponse.class,
                        DELETE_GROUPS_NEWEST,
                        "deletion of group " + groupId,
                        version -> new DeleteGroupsRequest().setGroupsNames(List.of(groupId)),
                        response -> response.results().stream()
                                .map(DeleteGroupsResponse.DeletableGroupResult::errorCode)
                                .toList(),
                        response -> true));
    }

    private <R extends ApiMessage, V> V ask(String groupId, GroupRequest<R, V> coordinatorRequest) {
        Coordinator coordinator = new Coordinator(cluster, Coordinator.Kind.GROUP, groupId);
        int timeoutMs = cluster.config().callTimeoutMs();
        calls.await(coordinator.ask(coordinatorRequest, timeoutMs), timeoutMs, coordinatorRequest.toString());
        return coordinatorRequest.value();
    }
}
