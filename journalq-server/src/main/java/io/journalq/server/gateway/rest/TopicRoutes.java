package io.journalq.server.gateway.rest;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreatePartitionsRequest;
import io.journalq.common.protocol.message.CreatePartitionsResponse;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsRequest.CreatableTopic;
import io.journalq.common.protocol.message.CreateTopicsRequest.CreatableTopicConfig;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.DeleteRecordsRequest;
import io.journalq.common.protocol.message.DeleteRecordsRequest.DeleteRecordsPartition;
import io.journalq.common.protocol.message.DeleteRecordsResponse;
import io.journalq.common.protocol.message.DeleteTopicsRequest;
import io.journalq.common.protocol.message.DeleteTopicsResponse;
import io.journalq.common.protocol.message.DescribeLogDirsRequest;
import io.journalq.common.protocol.message.DescribeLogDirsResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponsePartition;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponseTopic;
import io.journalq.server.gateway.http.JsonObject;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.http.RouteDescription.Parameter;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.gateway.problem.ProtocolErrors;
import io.journalq.server.gateway.rest.ListQuery.Field;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** {@code /v1/topics}: lists, creates, changes and deletes topics and their partitions. Any thread. */
final class TopicRoutes {
    private static final int METADATA_VERSION = 12;
    private static final int TIMEOUT_MS = 30_000;
    private static final int MAX_PARTITIONS = 1_000_000;
    private static final long UNKNOWN = -1;

    /** Upper bound of the size of a listed topic, without its name. */
    private static final int TOPIC_BYTES = 150;

    /** Upper bound of the size of a listed partition with a few replicas. */
    private static final int PARTITION_BYTES = 220;

    private static final ListQuery.Shape<Listed> TOPICS = new ListQuery.Shape<>(
            Listed::name,
            List.of(
                    Field.text("name", Listed::name),
                    Field.number(
                            "partitions", topic -> (long) topic.partitions().size()),
                    Field.number("sizeBytes", Listed::sizeBytes)),
            topic -> TOPIC_BYTES + topic.name().length());

    private static final ListQuery.Shape<MetadataResponsePartition> PARTITIONS = new ListQuery.Shape<>(
            partition -> String.format("%09d", partition.partitionIndex()),
            partition -> Integer.toString(partition.partitionIndex()),
            List.of(
                    Field.number("partition", partition -> (long) partition.partitionIndex()),
                    Field.number("leader", partition -> (long) partition.leaderId())),
            partition -> PARTITION_BYTES + 12 * partition.replicaNodes().size());

    /** How old the sizes in a list may be. Reading them asks every partition. */
    private static final long SIZES_MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(3);

    private volatile Sizes lastSizes = new Sizes(false, Map.of(), 0);

    /** @param sizeBytes size of its log files on this broker; {@link #UNKNOWN} if the client may not know it */
    private record Listed(String name, boolean internal, List<MetadataResponsePartition> partitions, long sizeBytes) {}

    List<Route> routes() {
        List<Parameter> listed = new ArrayList<>(ListQuery.PARAMETERS);
        listed.add(Parameter.optional("internal", "true: also the topics that the broker writes itself"));
        return List.of(
                RestRoute.get("/v1/topics", RouteDescription.of("lists topics").with(listed), this::list),
                RestRoute.post(
                        "/v1/topics",
                        RouteDescription.of("creates a topic")
                                .responding(HttpResponseStatus.CREATED, RouteDescription.JSON),
                        "{\"name\":\"invoices\",\"partitions\":2,\"configs\":{\"retention.ms\":\"7d\"}}",
                        TopicRoutes::create),
                RestRoute.get("/v1/topics/{topic}", RouteDescription.of("describes a topic"), TopicRoutes::describe),
                RestRoute.delete(
                        "/v1/topics/{topic}",
                        RouteDescription.of("deletes a topic and its records"),
                        TopicRoutes::delete),
                RestRoute.get(
                        "/v1/topics/{topic}/partitions",
                        ListQuery.description("lists the partitions of a topic"),
                        TopicRoutes::listPartitions),
                RestRoute.post(
                        "/v1/topics/{topic}/partitions",
                        RouteDescription.of("adds partitions to a topic, with execute"),
                        "{\"partitions\":4}",
                        TopicRoutes::addPartitions),
                RestRoute.post(
                        "/v1/topics/{topic}/truncate",
                        RouteDescription.of("deletes records of a topic, with execute"),
                        "{\"partition\":0,\"before\":1}",
                        TopicRoutes::truncate));
    }

    private void list(RestRequest request) {
        ListQuery query = ListQuery.of(request.exchange());
        boolean internal = "true".equals(request.exchange().parameter("internal"));
        metadata(
                request,
                null,
                metadata -> recentSizes(request, sizes -> {
                    List<Listed> all = new ArrayList<>(metadata.topics().size());
                    for (MetadataResponseTopic topic : metadata.topics()) {
                        if (internal || !topic.isInternal()) {
                            all.add(new Listed(
                                    topic.name(), topic.isInternal(), topic.partitions(), sizes.ofTopic(topic.name())));
                        }
                    }
                    ListQuery.Page<Listed> page = query.page(all, TOPICS);
                    List<TopicPartition> partitions = new ArrayList<>();
                    for (Listed topic : page.items()) {
                        topic.partitions()
                                .forEach(each ->
                                        partitions.add(new TopicPartition(topic.name(), each.partitionIndex())));
                    }
                    LogOffsets.findBounds(request, partitions, bounds -> respond(request, page, bounds));
                }));
    }

    private static void respond(
            RestRequest request, ListQuery.Page<Listed> page, Map<TopicPartition, LogOffsets.Bounds> bounds) {
        request.respond(page, (json, topic) -> {
            json.writeStringField("name", topic.name());
            json.writeNumberField("partitions", topic.partitions().size());
            json.writeNumberField(
                    "replicationFactor",
                    topic.partitions().stream()
                            .mapToInt(each -> each.replicaNodes().size())
                            .max()
                            .orElse(0));
            json.writeNumberField(
                    "underReplicated",
                    topic.partitions().stream()
                            .filter(each ->
                                    each.isrNodes().size() < each.replicaNodes().size())
                            .count());
            json.writeNumberField(
                    "offline",
                    topic.partitions().stream().filter(TopicRoutes::isOffline).count());
            json.writeNumberField("records", records(topic, bounds));
            json.writeNumberField("sizeBytes", topic.sizeBytes());
            if (topic.internal()) {
                json.writeBooleanField("internal", true);
            }
        });
    }

    static boolean isOffline(MetadataResponsePartition partition) {
        return partition.leaderId() < 0 || partition.offlineReplicas().contains(partition.leaderId());
    }

    private static long records(Listed topic, Map<TopicPartition, LogOffsets.Bounds> bounds) {
        long records = 0;
        for (MetadataResponsePartition partition : topic.partitions()) {
            LogOffsets.Bounds log = bounds.get(new TopicPartition(topic.name(), partition.partitionIndex()));
            if (log == null) {
                return UNKNOWN;
            }
            records += log.end() - log.start();
        }
        return records;
    }

    /** Sizes of log files. */
    private record Sizes(boolean known, Map<String, Map<Integer, Long>> byTopic, long readNanos) {
        long ofTopic(String topic) {
            return known
                    ? byTopic.getOrDefault(topic, Map.of()).values().stream()
                            .mapToLong(Long::longValue)
                            .sum()
                    : UNKNOWN;
        }

        long ofPartition(String topic, int partition) {
            return known ? byTopic.getOrDefault(topic, Map.of()).getOrDefault(partition, UNKNOWN) : UNKNOWN;
        }
    }

    /** Sizes that are not older than {@link #SIZES_MAX_AGE_NANOS}, so that lists do not ask every partition. */
    private void recentSizes(RestRequest request, Consumer<Sizes> next) {
        Sizes last = lastSizes;
        boolean isRecent = last.known()
                && request.nanoTime() - last.readNanos() < SIZES_MAX_AGE_NANOS
                && request.exchange()
                        .sees(ApiKey.DESCRIBE_LOG_DIRS, Right.DESCRIBE_CLUSTER, AclResourceType.CLUSTER_NAME);
        if (isRecent) {
            next.accept(last);
            return;
        }
        sizes(request, sizes -> {
            if (sizes.known()) {
                lastSizes = sizes;
            }
            next.accept(sizes);
        });
    }

    private static void sizes(RestRequest request, Consumer<Sizes> next) {
        request.call(
                ApiKey.DESCRIBE_LOG_DIRS,
                4,
                new DescribeLogDirsRequest().setTopics(null),
                DescribeLogDirsResponse.class,
                response -> {
                    Map<String, Map<Integer, Long>> sizes = new HashMap<>();
                    response.results().forEach(directory -> directory.topics().forEach(topic -> {
                        Map<Integer, Long> partitions = sizes.computeIfAbsent(topic.name(), name -> new HashMap<>());
                        topic.partitions().forEach(each -> partitions.put(each.partitionIndex(), each.partitionSize()));
                    }));
                    next.accept(new Sizes(response.errorCode() == ErrorCode.NONE.code(), sizes, request.nanoTime()));
                });
    }

    /**
     * Reads metadata.
     *
     * @param topic null for all topics that the client may describe
     */
    static void metadata(RestRequest request, String topic, Consumer<MetadataResponse> next) {
        MetadataRequest message = new MetadataRequest()
                .setAllowAutoTopicCreation(false)
                .setTopics(topic == null ? null : List.of(new MetadataRequest.MetadataRequestTopic().setName(topic)));
        request.call(ApiKey.METADATA, METADATA_VERSION, message, MetadataResponse.class, next);
    }

    /** Reads the metadata of the topic in the path, which must exist. */
    static void topic(RestRequest request, Consumer<MetadataResponseTopic> next) {
        topic(request, request.path("topic"), next);
    }

    static void topic(RestRequest request, String name, Consumer<MetadataResponseTopic> next) {
        metadata(request, name, metadata -> {
            MetadataResponseTopic topic = metadata.topics().get(0);
            ProtocolErrors.check(topic.errorCode(), null, "topic " + name);
            next.accept(topic);
        });
    }

    private static void describe(RestRequest request) {
        topic(
                request,
                topic -> sizes(request, sizes -> {
                    List<TopicPartition> partitions = topic.partitions().stream()
                            .map(each -> new TopicPartition(topic.name(), each.partitionIndex()))
                            .toList();
                    Listed listed = new Listed(
                            topic.name(), topic.isInternal(), topic.partitions(), sizes.ofTopic(topic.name()));
                    LogOffsets.findBounds(
                            request,
                            partitions,
                            bounds -> request.respond(json -> {
                                json.writeStringField("name", topic.name());
                                json.writeStringField("id", topic.topicId().toString());
                                json.writeBooleanField("internal", topic.isInternal());
                                json.writeNumberField("partitions", partitions.size());
                                json.writeNumberField(
                                        "replicationFactor",
                                        topic.partitions().stream()
                                                .mapToInt(each ->
                                                        each.replicaNodes().size())
                                                .max()
                                                .orElse(0));
                                json.writeNumberField(
                                        "offline",
                                        topic.partitions().stream()
                                                .filter(TopicRoutes::isOffline)
                                                .count());
                                json.writeNumberField("records", records(listed, bounds));
                                json.writeNumberField("sizeBytes", listed.sizeBytes());
                            }));
                }));
    }

    private static void listPartitions(RestRequest request) {
        ListQuery query = ListQuery.of(request.exchange());
        topic(
                request,
                topic -> sizes(request, sizes -> {
                    ListQuery.Page<MetadataResponsePartition> page = query.page(topic.partitions(), PARTITIONS);
                    List<TopicPartition> partitions = page.items().stream()
                            .map(each -> new TopicPartition(topic.name(), each.partitionIndex()))
                            .toList();
                    LogOffsets.findBounds(
                            request,
                            partitions,
                            bounds -> request.respond(page, (json, partition) -> {
                                LogOffsets.Bounds log =
                                        bounds.get(new TopicPartition(topic.name(), partition.partitionIndex()));
                                json.writeNumberField("partition", partition.partitionIndex());
                                json.writeNumberField("leader", partition.leaderId());
                                json.writeNumberField("leaderEpoch", partition.leaderEpoch());
                                json.writeFieldName("replicas");
                                json.writeArray(
                                        ints(partition.replicaNodes()),
                                        0,
                                        partition.replicaNodes().size());
                                json.writeFieldName("inSync");
                                json.writeArray(
                                        ints(partition.isrNodes()),
                                        0,
                                        partition.isrNodes().size());
                                json.writeBooleanField("offline", isOffline(partition));
                                json.writeNumberField("start", log == null ? UNKNOWN : log.start());
                                json.writeNumberField("end", log == null ? UNKNOWN : log.end());
                                json.writeNumberField(
                                        "sizeBytes", sizes.ofPartition(topic.name(), partition.partitionIndex()));
                            }));
                }));
    }

    static int[] ints(List<Integer> numbers) {
        return numbers.stream().mapToInt(Integer::intValue).toArray();
    }

    private static void create(RestRequest request) {
        JsonObject body = request.body();
        body.checkMembers(List.of("name", "partitions", "replicationFactor", "configs", "validateOnly"));
        String name = body.required("name");
        JsonObject configs = body.object("configs");
        CreatableTopic topic = new CreatableTopic()
                .setName(name)
                .setNumPartitions(body.number("partitions", -1, 1, MAX_PARTITIONS))
                .setReplicationFactor((short) body.number("replicationFactor", -1, 1, Short.MAX_VALUE))
                .setAssignments(List.of())
                .setConfigs(configs.names().stream()
                        .map(key -> new CreatableTopicConfig().setName(key).setValue(configs.scalar(key)))
                        .toList());
        CreateTopicsRequest message = new CreateTopicsRequest()
                .setTopics(List.of(topic))
                .setTimeoutMs(TIMEOUT_MS)
                .setValidateOnly(body.flag("validateOnly"));
        request.call(ApiKey.CREATE_TOPICS, 7, message, CreateTopicsResponse.class, response -> {
            CreateTopicsResponse.CreatableTopicResult created =
                    response.topics().get(0);
            ProtocolErrors.check(created.errorCode(), created.errorMessage(), "topic " + name);
            request.respond(message.validateOnly() ? HttpResponseStatus.OK : HttpResponseStatus.CREATED, json -> {
                json.writeStringField("name", name);
                json.writeNumberField("partitions", created.numPartitions());
                json.writeNumberField("replicationFactor", created.replicationFactor());
                json.writeBooleanField("executed", !message.validateOnly());
            });
        });
    }

    private static void delete(RestRequest request) {
        request.body().checkMembers(List.of());
        String name = request.path("topic");
        DeleteTopicsRequest message = new DeleteTopicsRequest()
                .setTopics(List.of(new DeleteTopicsRequest.DeleteTopicState().setName(name)))
                .setTimeoutMs(TIMEOUT_MS);
        request.call(ApiKey.DELETE_TOPICS, 6, message, DeleteTopicsResponse.class, response -> {
            DeleteTopicsResponse.DeletableTopicResult deleted =
                    response.responses().get(0);
            ProtocolErrors.check(deleted.errorCode(), deleted.errorMessage(), "topic " + name);
            request.respond(json -> json.writeStringField("deleted", name));
        });
    }

    private static void addPartitions(RestRequest request) {
        request.body().checkMembers(RestRequest.orExecute("partitions"));
        String name = request.path("topic");
        int count = request.body().number("partitions", -1, 1, MAX_PARTITIONS);
        CreatePartitionsRequest message = new CreatePartitionsRequest()
                .setTopics(List.of(new CreatePartitionsRequest.CreatePartitionsTopic()
                        .setName(name)
                        .setCount(count)
                        .setAssignments(null)))
                .setTimeoutMs(TIMEOUT_MS)
                .setValidateOnly(!request.executes());
        topic(
                request,
                topic ->
                        request.call(ApiKey.CREATE_PARTITIONS, 3, message, CreatePartitionsResponse.class, response -> {
                            CreatePartitionsResponse.CreatePartitionsTopicResult result =
                                    response.results().get(0);
                            ProtocolErrors.check(result.errorCode(), result.errorMessage(), "topic " + name);
                            request.respond(json -> {
                                json.writeStringField("name", name);
                                json.writeNumberField(
                                        "before", topic.partitions().size());
                                json.writeNumberField("partitions", count);
                                json.writeBooleanField("executed", request.executes());
                            });
                        }));
    }

    /** Deletes the records before an offset of a partition, or all records. */
    private static void truncate(RestRequest request) {
        JsonObject body = request.body();
        body.checkMembers(RestRequest.orExecute("partition", "before"));
        Long only = body.number("partition");
        Long before = body.number("before");
        if (before != null && only == null) {
            throw JsonObject.invalid("\"before\" needs a \"partition\"", RestRoute.REMEDY);
        }
        topic(request, topic -> {
            List<TopicPartition> partitions = topic.partitions().stream()
                    .filter(each -> only == null || only == each.partitionIndex())
                    .map(each -> new TopicPartition(topic.name(), each.partitionIndex()))
                    .toList();
            if (partitions.isEmpty()) {
                throw new Problem(
                                ProblemType.UNKNOWN_PARTITION,
                                "the topic has no partition " + only,
                                "choose one from 0 to " + (topic.partitions().size() - 1))
                        .exception();
            }
            LogOffsets.findBoundsToChange(
                    request, partitions, bounds -> truncate(request, topic.name(), partitions, before, bounds));
        });
    }

    private static void truncate(
            RestRequest request,
            String topic,
            List<TopicPartition> partitions,
            Long before,
            Map<TopicPartition, LogOffsets.Bounds> bounds) {
        List<DeleteRecordsPartition> truncated = new ArrayList<>();
        long records = 0;
        for (TopicPartition partition : partitions) {
            LogOffsets.Bounds log = bounds.get(partition);
            if (log != null) {
                long offset = before == null ? log.end() : before;
                if (offset < 0 || offset > log.end()) {
                    throw new Problem(
                                    ProblemType.OFFSET_OUT_OF_RANGE,
                                    "partition " + partition.partition() + " ends at " + log.end(),
                                    "send an offset from " + log.start() + " to " + log.end())
                            .exception();
                }
                records += Math.max(0, offset - log.start());
                truncated.add(new DeleteRecordsPartition()
                        .setPartitionIndex(partition.partition())
                        .setOffset(offset));
            }
        }
        long deleted = records;
        Runnable respond = () -> request.respond(json -> {
            json.writeStringField("topic", topic);
            json.writeNumberField("partitions", truncated.size());
            json.writeNumberField("records", deleted);
            json.writeBooleanField("executed", request.executes());
        });
        if (!request.executes()) {
            respond.run();
            return;
        }
        DeleteRecordsRequest message = new DeleteRecordsRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setTopics(List.of(new DeleteRecordsRequest.DeleteRecordsTopic()
                        .setName(topic)
                        .setPartitions(truncated)));
        request.call(ApiKey.DELETE_RECORDS, 2, message, DeleteRecordsResponse.class, response -> {
            response.topics()
                    .get(0)
                    .partitions()
                    .forEach(each -> ProtocolErrors.check(
                            each.errorCode(), null, "partition " + each.partitionIndex() + " of topic " + topic));
            respond.run();
        });
    }
}
