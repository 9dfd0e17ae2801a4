package io.journalq.client.internal.admin;

import io.journalq.client.admin.NewTopic;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.client.admin.TopicDescription;
import io.journalq.client.admin.TopicListing;
import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.BlockingCalls;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreatePartitionsRequest;
import io.journalq.common.protocol.message.CreatePartitionsResponse;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.DeleteTopicsRequest;
import io.journalq.common.protocol.message.DeleteTopicsResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Requests about topics. Thread-safe. */
public final class TopicCalls {
    private static final int CREATE_TOPICS_NEWEST = 7;
    private static final int DELETE_TOPICS_NEWEST = 6;
    private static final int CREATE_PARTITIONS_NEWEST = 3;
    private static final int METADATA_NEWEST = 12;
    private static final short FIRST_DELETE_VERSION_WITH_IDS = 6;
    private static final short FIRST_METADATA_VERSION_WITH_AUTO_CREATION = 4;

    private final BlockingCalls calls;
    private final int timeoutMs;

    public TopicCalls(BlockingCalls calls, int timeoutMs) {
        this.calls = calls;
        this.timeoutMs = timeoutMs;
    }

    public void create(Collection<NewTopic> topics) {
        change(
                ApiKey.CREATE_TOPICS,
                CREATE_TOPICS_NEWEST,
                CreateTopicsResponse.class,
                version -> createRequest(topics),
                response -> response.topics().stream()
                        .map(topic -> new Result(topic.name(), topic.errorCode(), topic.errorMessage()))
                        .toList());
    }

    public void delete(Collection<String> names) {
        change(
                ApiKey.DELETE_TOPICS,
                DELETE_TOPICS_NEWEST,
                DeleteTopicsResponse.class,
                version -> deleteRequest(names, version),
                response -> response.responses().stream()
                        .map(topic -> new Result(topic.name(), topic.errorCode(), topic.errorMessage()))
                        .toList());
    }

    public void createPartitions(String name, int totalCount) {
        change(
                ApiKey.CREATE_PARTITIONS,
                CREATE_PARTITIONS_NEWEST,
                CreatePartitionsResponse.class,
                version -> new CreatePartitionsRequest()
                        .setTimeoutMs(timeoutMs)
                        .setTopics(List.of(new CreatePartitionsRequest.CreatePartitionsTopic()
                                .setName(name)
                                .setCount(totalCount)
                                .setAssignments(null))),
                response -> response.results().stream()
                        .map(topic -> new Result(topic.name(), topic.errorCode(), topic.errorMessage()))
                        .toList());
    }

    /** The result of a change of one topic. */
    private record Result(String topic, short errorCode, String errorMessage) {}

    /** Sends a request that the controller handles, and throws the errors of its topics. */
    private <R extends ApiMessage> void change(
            ApiKey key,
            int newest,
            Class<R> responseType,
            BlockingCalls.RequestBuilder request,
            Function<R, List<Result>> reader) {
        List<Result> results = calls.retrying(() -> {
            List<Result> tried = reader.apply(calls.call(BlockingCalls.ANY_BROKER, key, newest, responseType, request));
            tried.forEach(result -> Failures.throwIfNotController(result.errorCode()));
            return tried;
        });
        Failures failures = new Failures();
        results.forEach(result -> failures.add(result.errorCode(), "topic " + result.topic(), result.errorMessage()));
        JournalQException first = failures.first();
        if (first != null) {
            calls.reportIfRefused(first);
            throw first;
        }
    }

    public List<TopicListing> list() {
        return metadata(null).topics().stream()
                .filter(topic -> topic.errorCode() == ErrorCode.NONE.code())
                .map(topic -> new TopicListing(
                        topic.name(), topic.topicId(), topic.partitions().size(), topic.isInternal()))
                .sorted(Comparator.comparing(TopicListing::name))
                .toList();
    }

    public Map<String, TopicDescription> describe(Collection<String> names) {
        if (names.isEmpty()) {
            return Map.of();
        }
        return calls.retryingUnlessAbsent(() -> {
            Map<String, TopicDescription> described = new LinkedHashMap<>();
            names.forEach(name -> described.put(name, null));
            Failures failures = new Failures();
            for (MetadataResponse.MetadataResponseTopic topic : metadata(names).topics()) {
                failures.add(topic.errorCode(), "topic " + topic.name(), null);
                described.put(topic.name(), description(topic));
            }
            failures.throwFirst();
            return described;
        });
    }

    private MetadataResponse metadata(Collection<String> names) {
        List<MetadataRequest.MetadataRequestTopic> asked = names == null
                ? null
                : names.stream()
                        .map(name -> new MetadataRequest.MetadataRequestTopic().setName(name))
                        .toList();
        return calls.retrying(() -> calls.call(
                BlockingCalls.ANY_BROKER, ApiKey.METADATA, METADATA_NEWEST, MetadataResponse.class, version -> {
                    MetadataRequest request = new MetadataRequest().setTopics(asked);
                    return version < FIRST_METADATA_VERSION_WITH_AUTO_CREATION
                            ? request
                            : request.setAllowAutoTopicCreation(false);
                }));
    }

    private static TopicDescription description(MetadataResponse.MetadataResponseTopic topic) {
        List<PartitionDescription> partitions = topic.partitions().stream()
                .sorted(Comparator.comparingInt(MetadataResponse.MetadataResponsePartition::partitionIndex))
                .map(partition -> new PartitionDescription(
                        partition.partitionIndex(),
                        partition.leaderId(),
                        partition.leaderEpoch(),
                        partition.replicaNodes(),
                        partition.isrNodes()))
                .toList();
        return new TopicDescription(topic.name(), topic.topicId(), topic.isInternal(), partitions);
    }

    private CreateTopicsRequest createRequest(Collection<NewTopic> topics) {
        List<CreateTopicsRequest.CreatableTopic> created = new ArrayList<>();
        for (NewTopic topic : topics) {
            List<CreateTopicsRequest.CreatableTopicConfig> configs = new ArrayList<>();
            topic.configs()
                    .forEach((key, value) -> configs.add(new CreateTopicsRequest.CreatableTopicConfig()
                            .setName(key)
                            .setValue(value)));
            created.add(new CreateTopicsRequest.CreatableTopic()
                    .setName(topic.name())
                    .setNumPartitions(topic.partitionCount())
                    .setReplicationFactor((short) topic.replicationFactor())
                    .setConfigs(configs));
        }
        return new CreateTopicsRequest().setTopics(created).setTimeoutMs(timeoutMs);
    }

    private DeleteTopicsRequest deleteRequest(Collection<String> names, short version) {
        DeleteTopicsRequest request = new DeleteTopicsRequest().setTimeoutMs(timeoutMs);
        if (version < FIRST_DELETE_VERSION_WITH_IDS) {
            return request.setTopicNames(List.copyOf(names));
        }
        return request.setTopics(names.stream()
                .map(name -> new DeleteTopicsRequest.DeleteTopicState().setName(name))
                .toList());
    }
}
