package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.ConsumerGroupDescribeRequest;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.DeleteGroupsRequest;
import io.journalq.common.protocol.message.DeleteGroupsResponse;
import io.journalq.common.protocol.message.DeleteRecordsRequest;
import io.journalq.common.protocol.message.DeleteRecordsResponse;
import io.journalq.common.protocol.message.DescribeGroupsRequest;
import io.journalq.common.protocol.message.DescribeGroupsResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.ListGroupsRequest;
import io.journalq.common.protocol.message.ListGroupsResponse;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.server.api.peer.RoutedCalls.Placement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * How the requests of an API are split into one part for each broker, and the responses merged. Stateless.
 *
 * @param <Q> the type of the request
 * @param <R> the type of the response
 */
abstract class SplitRequest<Q extends ApiMessage, R extends ApiMessage> {
    private static final long NO_OFFSET = -1;

    /** The parts of a request, by broker. A request without anything to do has one part. */
    abstract Map<Integer, Q> parts(Q request, Placement placement);

    /** Merges the responses to all parts. */
    abstract R merge(Q request, List<R> responses);

    /** The response of a broker that cannot be asked, or does not say what it has done. */
    abstract R refusal(Q part);

    /** Keeps the records of a request. Sending it uses up one reference. */
    void retain(Q request) {}

    /** Groups items by broker. There is at least one group. */
    private static <T> Map<Integer, List<T>> byBroker(List<T> items, int nodeId, ToIntFunction<T> broker) {
        Map<Integer, List<T>> parts = new TreeMap<>();
        items.forEach(item -> parts.computeIfAbsent(broker.applyAsInt(item), id -> new ArrayList<>())
                .add(item));
        if (parts.isEmpty()) {
            parts.put(nodeId, List.of());
        }
        return parts;
    }

    private static <T, V> List<V> concat(List<T> responses, Function<T, List<V>> items) {
        List<V> all = new ArrayList<>();
        responses.forEach(response -> all.addAll(items.apply(response)));
        return all;
    }

    /** Splits topics into their partitions. */
    private static <T, P, Q> Map<Integer, Q> byLeader(
            List<T> topics,
            Function<T, String> name,
            Function<T, List<P>> partitions,
            ToIntFunction<P> number,
            BiFunction<T, List<P>, T> topicOf,
            Function<List<T>, Q> requestOf,
            Placement placement) {
        Map<Integer, List<T>> parts = new TreeMap<>();
        for (T topic : topics) {
            byBroker(
                            partitions.apply(topic),
                            placement.nodeId(),
                            partition -> placement.leader(name.apply(topic), number.applyAsInt(partition)))
                    .forEach((broker, its) -> parts.computeIfAbsent(broker, id -> new ArrayList<>())
                            .add(topicOf.apply(topic, its)));
        }
        if (parts.isEmpty()) {
            parts.put(placement.nodeId(), List.of());
        }
        Map<Integer, Q> requests = new TreeMap<>();
        parts.forEach((broker, its) -> requests.put(broker, requestOf.apply(its)));
        return requests;
    }

    /** Merges topics of the same name. */
    private static <T, P> List<T> byName(
            List<T> topics, Function<T, String> name, Function<T, List<P>> partitions, BiConsumer<T, List<P>> set) {
        Map<String, T> merged = new TreeMap<>();
        Map<String, List<P>> all = new HashMap<>();
        for (T topic : topics) {
            merged.putIfAbsent(name.apply(topic), topic);
            all.computeIfAbsent(name.apply(topic), key -> new ArrayList<>()).addAll(partitions.apply(topic));
        }
        merged.forEach((key, topic) -> set.accept(topic, all.get(key)));
        return new ArrayList<>(merged.values());
    }

    static final SplitRequest<ProduceRequest, ProduceResponse> PRODUCE = new SplitRequest<>() {
        @Override
        Map<Integer, ProduceRequest> parts(ProduceRequest request, Placement placement) {
            return byLeader(
                    request.topicData(),
                    ProduceRequest.TopicProduceData::name,
                    ProduceRequest.TopicProduceData::partitionData,
                    ProduceRequest.PartitionProduceData::index,
                    (topic, partitions) -> new ProduceRequest.TopicProduceData()
                            .setName(topic.name())
                            .setPartitionData(partitions),
                    topics -> new ProduceRequest()
                            .setAcks(request.acks())
                            .setTimeoutMs(request.timeoutMs())
                            .setTopicData(topics),
                    placement);
        }

        /** The results have the order of the request. */
        @Override
        ProduceResponse merge(ProduceRequest request, List<ProduceResponse> responses) {
            Map<String, Map<Integer, ProduceResponse.PartitionProduceResponse>> results = new HashMap<>();
            int throttleMs = 0;
            for (ProduceResponse response : responses) {
                throttleMs = Math.max(throttleMs, response.throttleTimeMs());
                response.responses().forEach(topic -> topic.partitionResponses()
                        .forEach(result -> results.computeIfAbsent(topic.name(), name -> new HashMap<>())
                                .put(result.index(), result)));
            }
            return new ProduceResponse()
                    .setThrottleTimeMs(throttleMs)
                    .setResponses(request.topicData().stream()
                            .map(topic -> new ProduceResponse.TopicProduceResponse()
                                    .setName(topic.name())
                                    .setPartitionResponses(topic.partitionData().stream()
                                            .map(part ->
                                                    results.get(topic.name()).get(part.index()))
                                            .toList()))
                            .toList());
        }

        /** The records may have been appended. */
        @Override
        ProduceResponse refusal(ProduceRequest part) {
            return new ProduceResponse()
                    .setResponses(part.topicData().stream()
                            .map(topic -> new ProduceResponse.TopicProduceResponse()
                                    .setName(topic.name())
                                    .setPartitionResponses(topic.partitionData().stream()
                                            .map(each -> new ProduceResponse.PartitionProduceResponse()
                                                    .setIndex(each.index())
                                                    .setBaseOffset(NO_OFFSET)
                                                    .setErrorCode(ErrorCode.REQUEST_TIMED_OUT.code())
                                                    .setErrorMessage("the leader gave no response to this broker"))
                                            .toList()))
                            .toList());
        }

        @Override
        void retain(ProduceRequest request) {
            request.topicData().forEach(topic -> topic.partitionData()
                    .forEach(partition -> partition.records().retain()));
        }
    };

    static final SplitRequest<FetchRequest, FetchResponse> FETCH = new SplitRequest<>() {
        @Override
        Map<Integer, FetchRequest> parts(FetchRequest request, Placement placement) {
            return byLeader(
                    request.topics(),
                    FetchRequest.FetchTopic::topic,
                    FetchRequest.FetchTopic::partitions,
                    FetchRequest.FetchPartition::partition,
                    (topic, partitions) -> new FetchRequest.FetchTopic()
                            .setTopic(topic.topic())
                            .setPartitions(partitions),
                    topics -> new FetchRequest()
                            .setMaxWaitMs(request.maxWaitMs())
                            .setMinBytes(request.minBytes())
                            .setMaxBytes(request.maxBytes())
                            .setSessionEpoch(request.sessionEpoch())
                            .setIsolationLevel(request.isolationLevel())
                            .setTopics(topics),
                    placement);
        }

        @Override
        FetchResponse merge(FetchRequest request, List<FetchResponse> responses) {
            return new FetchResponse().setResponses(concat(responses, FetchResponse::responses));
        }

        @Override
        FetchResponse refusal(FetchRequest part) {
            return new FetchResponse()
                    .setResponses(part.topics().stream()
                            .map(topic -> new FetchResponse.FetchableTopicResponse()
                                    .setTopic(topic.topic())
                                    .setPartitions(topic.partitions().stream()
                                            .map(each -> new FetchResponse.PartitionData()
                                                    .setPartitionIndex(each.partition())
                                                    .setErrorCode(ErrorCode.LEADER_NOT_AVAILABLE.code())
                                                    .setRecords(RecordsData.EMPTY))
                                            .toList()))
                            .toList());
        }
    };

    static final SplitRequest<ListOffsetsRequest, ListOffsetsResponse> LIST_OFFSETS = new SplitRequest<>() {
        @Override
        Map<Integer, ListOffsetsRequest> parts(ListOffsetsRequest request, Placement placement) {
            return byLeader(
                    request.topics(),
                    ListOffsetsRequest.ListOffsetsTopic::name,
                    ListOffsetsRequest.ListOffsetsTopic::partitions,
                    ListOffsetsRequest.ListOffsetsPartition::partitionIndex,
                    (topic, partitions) -> new ListOffsetsRequest.ListOffsetsTopic()
                            .setName(topic.name())
                            .setPartitions(partitions),
                    topics -> new ListOffsetsRequest()
                            .setReplicaId(request.replicaId())
                            .setIsolationLevel(request.isolationLevel())
                            .setTopics(topics),
                    placement);
        }

        @Override
        ListOffsetsResponse merge(ListOffsetsRequest request, List<ListOffsetsResponse> responses) {
            return new ListOffsetsResponse()
                    .setTopics(byName(
                            concat(responses, ListOffsetsResponse::topics),
                            ListOffsetsResponse.ListOffsetsTopicResponse::name,
                            ListOffsetsResponse.ListOffsetsTopicResponse::partitions,
                            ListOffsetsResponse.ListOffsetsTopicResponse::setPartitions));
        }

        @Override
        ListOffsetsResponse refusal(ListOffsetsRequest part) {
            return new ListOffsetsResponse()
                    .setTopics(part.topics().stream()
                            .map(topic -> new ListOffsetsResponse.ListOffsetsTopicResponse()
                                    .setName(topic.name())
                                    .setPartitions(topic.partitions().stream()
                                            .map(each -> new ListOffsetsResponse.ListOffsetsPartitionResponse()
                                                    .setPartitionIndex(each.partitionIndex())
                                                    .setOffset(NO_OFFSET)
                                                    .setErrorCode(ErrorCode.LEADER_NOT_AVAILABLE.code()))
                                            .toList()))
                            .toList());
        }
    };

    static final SplitRequest<DeleteRecordsRequest, DeleteRecordsResponse> DELETE_RECORDS = new SplitRequest<>() {
        @Override
        Map<Integer, DeleteRecordsRequest> parts(DeleteRecordsRequest request, Placement placement) {
            return byLeader(
                    request.topics(),
                    DeleteRecordsRequest.DeleteRecordsTopic::name,
                    DeleteRecordsRequest.DeleteRecordsTopic::partitions,
                    DeleteRecordsRequest.DeleteRecordsPartition::partitionIndex,
                    (topic, partitions) -> new DeleteRecordsRequest.DeleteRecordsTopic()
                            .setName(topic.name())
                            .setPartitions(partitions),
                    topics -> new DeleteRecordsRequest()
                            .setTimeoutMs(request.timeoutMs())
                            .setTopics(topics),
                    placement);
        }

        @Override
        DeleteRecordsResponse merge(DeleteRecordsRequest request, List<DeleteRecordsResponse> responses) {
            return new DeleteRecordsResponse()
                    .setTopics(byName(
                            concat(responses, DeleteRecordsResponse::topics),
                            DeleteRecordsResponse.DeleteRecordsTopicResult::name,
                            DeleteRecordsResponse.DeleteRecordsTopicResult::partitions,
                            DeleteRecordsResponse.DeleteRecordsTopicResult::setPartitions));
        }

        @Override
        DeleteRecordsResponse refusal(DeleteRecordsRequest part) {
            return new DeleteRecordsResponse()
                    .setTopics(part.topics().stream()
                            .map(topic -> new DeleteRecordsResponse.DeleteRecordsTopicResult()
                                    .setName(topic.name())
                                    .setPartitions(topic.partitions().stream()
                                            .map(each -> new DeleteRecordsResponse.DeleteRecordsPartitionResult()
                                                    .setPartitionIndex(each.partitionIndex())
                                                    .setLowWatermark(NO_OFFSET)
                                                    .setErrorCode(ErrorCode.REQUEST_TIMED_OUT.code()))
                                            .toList()))
                            .toList());
        }
    };

    /** A request for the coordinator of one group. */
    private static final class OfGroup<Q extends ApiMessage, R extends ApiMessage> extends SplitRequest<Q, R> {
        private final Function<Q, String> group;
        private final Function<Q, R> refusal;

        OfGroup(Function<Q, String> group, Function<Q, R> refusal) {
            this.group = group;
            this.refusal = refusal;
        }

        @Override
        Map<Integer, Q> parts(Q request, Placement placement) {
            return Map.of(placement.coordinator(group.apply(request)), request);
        }

        @Override
        R merge(Q request, List<R> responses) {
            return responses.get(0);
        }

        @Override
        R refusal(Q part) {
            return refusal.apply(part);
        }
    }

    static final SplitRequest<ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse> CONSUMER_GROUP_HEARTBEAT =
            new OfGroup<>(ConsumerGroupHeartbeatRequest::groupId, part -> new ConsumerGroupHeartbeatResponse()
                    .setErrorCode(ErrorCode.COORDINATOR_NOT_AVAILABLE.code()));

    static final SplitRequest<OffsetCommitRequest, OffsetCommitResponse> OFFSET_COMMIT =
            new OfGroup<>(OffsetCommitRequest::groupId, part -> new OffsetCommitResponse()
                    .setTopics(part.topics().stream()
                            .map(topic -> new OffsetCommitResponse.OffsetCommitResponseTopic()
                                    .setName(topic.name())
                                    .setPartitions(topic.partitions().stream()
                                            .map(each -> new OffsetCommitResponse.OffsetCommitResponsePartition()
                                                    .setPartitionIndex(each.partitionIndex())
                                                    .setErrorCode(ErrorCode.COORDINATOR_NOT_AVAILABLE.code()))
                                            .toList()))
                            .toList()));

    /** A request for several groups. Each is an item. */
    private static final class OfGroups<Q extends ApiMessage, R extends ApiMessage, T> extends SplitRequest<Q, R> {
        private final Function<Q, List<T>> items;
        private final Function<T, String> group;
        private final BiFunction<Q, List<T>, Q> partOf;
        private final Function<List<R>, R> merge;
        private final Function<List<T>, R> refusal;

        OfGroups(
                Function<Q, List<T>> items,
                Function<T, String> group,
                BiFunction<Q, List<T>, Q> partOf,
                Function<List<R>, R> merge,
                Function<List<T>, R> refusal) {
            this.items = items;
            this.group = group;
            this.partOf = partOf;
            this.merge = merge;
            this.refusal = refusal;
        }

        @Override
        Map<Integer, Q> parts(Q request, Placement placement) {
            Map<Integer, Q> parts = new TreeMap<>();
            byBroker(items.apply(request), placement.nodeId(), item -> placement.coordinator(group.apply(item)))
                    .forEach((broker, its) -> parts.put(broker, partOf.apply(request, its)));
            return parts;
        }

        @Override
        R merge(Q request, List<R> responses) {
            return merge.apply(responses);
        }

        @Override
        R refusal(Q part) {
            return refusal.apply(items.apply(part));
        }
    }

    static final SplitRequest<OffsetFetchRequest, OffsetFetchResponse> OFFSET_FETCH = new OfGroups<>(
            OffsetFetchRequest::groups,
            OffsetFetchRequest.OffsetFetchRequestGroup::groupId,
            (request, groups) -> new OffsetFetchRequest()
                    .setRequireStable(request.requireStable())
                    .setGroups(groups),
            responses -> new OffsetFetchResponse().setGroups(concat(responses, OffsetFetchResponse::groups)),
            groups -> new OffsetFetchResponse()
                    .setGroups(groups.stream()
                            .map(each -> new OffsetFetchResponse.OffsetFetchResponseGroup()
                                    .setGroupId(each.groupId())
                                    .setErrorCode(ErrorCode.COORDINATOR_NOT_AVAILABLE.code()))
                            .toList()));

    static final SplitRequest<DescribeGroupsRequest, DescribeGroupsResponse> DESCRIBE_GROUPS = new OfGroups<>(
            DescribeGroupsRequest::groups,
            name -> name,
            (request, groups) -> new DescribeGroupsRequest()
                    .setIncludeAuthorizedOperations(request.includeAuthorizedOperations())
                    .setGroups(groups),
            responses -> new DescribeGroupsResponse().setGroups(concat(responses, DescribeGroupsResponse::groups)),
            groups -> new DescribeGroupsResponse()
                    .setGroups(groups.stream()
                            .map(name -> new DescribeGroupsResponse.DescribedGroup()
                                    .setGroupId(name)
                                    .setErrorCode(ErrorCode.COORDINATOR_NOT_AVAILABLE.code()))
                            .toList()));

    static final SplitRequest<ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse> CONSUMER_GROUP_DESCRIBE =
            new OfGroups<>(
                    ConsumerGroupDescribeRequest::groupIds,
                    name -> name,
                    (request, groups) -> new ConsumerGroupDescribeRequest()
                            .setIncludeAuthorizedOperations(request.includeAuthorizedOperations())
                            .setGroupIds(groups),
                    responses -> new ConsumerGroupDescribeResponse()
                            .setGroups(concat(responses, ConsumerGroupDescribeResponse::groups)),
                    groups -> new ConsumerGroupDescribeResponse()
                            .setGroups(groups.stream()
                                    .map(name -> new ConsumerGroupDescribeResponse.DescribedGroup()
                                            .setGroupId(name)
                                            .setErrorCode(ErrorCode.COORDINATOR_NOT_AVAILABLE.code()))
                                    .toList()));

    static final SplitRequest<DeleteGroupsRequest, DeleteGroupsResponse> DELETE_GROUPS = new OfGroups<>(
            DeleteGroupsRequest::groupsNames,
            name -> name,
            (request, groups) -> new DeleteGroupsRequest().setGroupsNames(groups),
            responses -> new DeleteGroupsResponse().setResults(concat(responses, DeleteGroupsResponse::results)),
            groups -> new DeleteGroupsResponse()
                    .setResults(groups.stream()
                            .map(name -> new DeleteGroupsResponse.DeletableGroupResult()
                                    .setGroupId(name)
                                    .setErrorCode(ErrorCode.COORDINATOR_NOT_AVAILABLE.code()))
                            .toList()));

    /** Sent to all brokers. The list is refused if one of them cannot be asked. */
    static final SplitRequest<ListGroupsRequest, ListGroupsResponse> LIST_GROUPS = new SplitRequest<>() {
        @Override
        Map<Integer, ListGroupsRequest> parts(ListGroupsRequest request, Placement placement) {
            Map<Integer, ListGroupsRequest> parts = new TreeMap<>();
            placement.image().brokers().forEach(broker -> {
                if (placement.image().liveBroker(broker.nodeId()) != null) {
                    parts.put(broker.nodeId(), request);
                }
            });
            parts.put(placement.nodeId(), request);
            return parts;
        }

        @Override
        ListGroupsResponse merge(ListGroupsRequest request, List<ListGroupsResponse> responses) {
            for (ListGroupsResponse response : responses) {
                if (response.errorCode() != ErrorCode.NONE.code()) {
                    return response;
                }
            }
            return new ListGroupsResponse().setGroups(concat(responses, ListGroupsResponse::groups));
        }

        @Override
        ListGroupsResponse refusal(ListGroupsRequest part) {
            return new ListGroupsResponse().setErrorCode(ErrorCode.COORDINATOR_NOT_AVAILABLE.code());
        }
    };
}
