package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddOffsetsToTxnRequest;
import io.journalq.common.protocol.message.AddOffsetsToTxnResponse;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse;
import io.journalq.common.protocol.message.AlterClientQuotasRequest;
import io.journalq.common.protocol.message.AlterClientQuotasResponse;
import io.journalq.common.protocol.message.AlterConfigsRequest;
import io.journalq.common.protocol.message.AlterConfigsResponse;
import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.CreatePartitionsRequest;
import io.journalq.common.protocol.message.CreatePartitionsResponse;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.GetTelemetrySubscriptionsRequest;
import io.journalq.common.protocol.message.GetTelemetrySubscriptionsResponse;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest;
import io.journalq.common.protocol.message.IncrementalAlterConfigsResponse;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.PushTelemetryRequest;
import io.journalq.common.protocol.message.PushTelemetryResponse;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.common.protocol.message.SyncGroupResponse;
import io.journalq.common.protocol.message.TxnOffsetCommitRequest;
import io.journalq.common.protocol.message.TxnOffsetCommitResponse;
import io.journalq.common.protocol.message.WriteTxnMarkersRequest;
import io.journalq.common.protocol.message.WriteTxnMarkersResponse;
import io.journalq.server.memory.StatePart;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A flood for every API that leaves state behind. */
final class StateFloods {
    private static final int LARGE_BYTES = 1_000_000;
    private static final int IN_A_REQUEST = 100;
    private static final byte GROUP = 32;

    /** Its partitions take part in transactions. */
    private static final String ADDED = "added";

    private static final int ADDED_PARTITIONS = 1_000;

    /** Offsets of its partitions are committed. */
    private static final String COMMITTED = "committed";

    private static final int COMMITTED_PARTITIONS = 200;

    /** Its partitions remember producers. */
    private static final String PRODUCED = "produced";

    private static final int PRODUCED_PARTITIONS = 8;

    /** Topics with an increasing number of partitions. */
    private static final int GROWING_TOPICS = 100;

    private static final int GROWTH = 50;
    private static final int REFUSED_PAUSE_MS = 200;

    private StateFloods() {}

    /** By the API that they use. */
    static Map<ApiKey, StateFlood> all() {
        Map<ApiKey, StateFlood> floods = new EnumMap<>(ApiKey.class);
        addMetadataFloods(floods);
        addGroupFloods(floods);
        addTransactionFloods(floods);
        addProducerFloods(floods);
        addConnectionFloods(floods);
        return floods;
    }

    private static ErrorCode first(Stream<Short> errors) {
        return errors.map(ErrorCode::of)
                .filter(error -> error != ErrorCode.NONE)
                .findFirst()
                .orElse(ErrorCode.NONE);
    }

    private static void addMetadataFloods(Map<ApiKey, StateFlood> floods) {
        long shortBytes = 4 << 20;
        floods.put(
                ApiKey.CREATE_TOPICS,
                StateFlood.of(
                                StatePart.METADATA,
                                shortBytes,
                                ErrorCode.POLICY_VIOLATION,
                                (client, number) -> createTopics(client, "created-" + number, IN_A_REQUEST))
                        .orAt(StateFlood.limit("max.partitions")));
        floods.put(
                ApiKey.CREATE_PARTITIONS,
                StateFlood.of(
                                StatePart.METADATA,
                                shortBytes,
                                ErrorCode.POLICY_VIOLATION,
                                client -> createTopics(client, "growing", GROWING_TOPICS),
                                StateFloods::createPartitions)
                        .orAt(StateFlood.limit("max.partitions")));
        floods.put(
                ApiKey.METADATA,
                StateFlood.of(
                                StatePart.METADATA,
                                shortBytes,
                                ErrorCode.POLICY_VIOLATION,
                                (client, number) -> createByMetadata(client, "asked-" + number, IN_A_REQUEST))
                        .orAt(StateFlood.limit("max.partitions")));
        floods.put(
                ApiKey.ALTER_CONFIGS,
                StateFlood.of(
                        StatePart.METADATA, shortBytes, ErrorCode.POLICY_VIOLATION, StateFloods::alterGroupConfigs));
        floods.put(
                ApiKey.INCREMENTAL_ALTER_CONFIGS,
                StateFlood.of(
                        StatePart.METADATA, shortBytes, ErrorCode.POLICY_VIOLATION, StateFloods::addGroupConfigs));
        floods.put(
                ApiKey.ALTER_CLIENT_QUOTAS,
                StateFlood.of(StatePart.METADATA, shortBytes, ErrorCode.POLICY_VIOLATION, StateFloods::alterQuotas));
    }

    private static ErrorCode createTopics(WireClient client, String name, int count) throws IOException {
        CreateTopicsRequest request = new CreateTopicsRequest()
                .setTimeoutMs(10_000)
                .setTopics(IntStream.range(0, count)
                        .mapToObj(i -> new CreateTopicsRequest.CreatableTopic()
                                .setName(name + "-" + i)
                                .setNumPartitions(1)
                                .setReplicationFactor((short) 1))
                        .toList());
        return first(client.call(CreateTopicsResponse.class, request, 5).topics().stream()
                .map(CreateTopicsResponse.CreatableTopicResult::errorCode));
    }

    private static ErrorCode createPartitions(WireClient client, int number) throws IOException {
        CreatePartitionsRequest request = new CreatePartitionsRequest()
                .setTimeoutMs(10_000)
                .setTopics(List.of(new CreatePartitionsRequest.CreatePartitionsTopic()
                        .setName("growing-" + number % GROWING_TOPICS)
                        .setCount(GROWTH * (1 + number / GROWING_TOPICS))
                        .setAssignments(null)));
        ErrorCode error = first(client.call(CreatePartitionsResponse.class, request, 1).results().stream()
                .map(CreatePartitionsResponse.CreatePartitionsTopicResult::errorCode));
        // Another connection, or an earlier refusal, was first: the partitions exist, or too many are requested at
        // once.
        return error == ErrorCode.INVALID_PARTITIONS ? ErrorCode.NONE : error;
    }

    /** Requests metadata, which auto-creates topics. */
    static ErrorCode createByMetadata(WireClient client, String name, int count) throws IOException {
        MetadataRequest request = new MetadataRequest()
                .setAllowAutoTopicCreation(true)
                .setTopics(IntStream.range(0, count)
                        .mapToObj(i -> new MetadataRequest.MetadataRequestTopic().setName(name + "-" + i))
                        .toList());
        return first(client.call(MetadataResponse.class, request, 8).topics().stream()
                .map(MetadataResponse.MetadataResponseTopic::errorCode));
    }

    /** As long as a group id may be, so that the memory runs out before the maximum number of groups is reached. */
    private static String longName(int number, int i) {
        return "g".repeat(1_000) + number + "-" + i;
    }

    private static ErrorCode alterGroupConfigs(WireClient client, int number) throws IOException {
        AlterConfigsRequest request = new AlterConfigsRequest()
                .setResources(IntStream.range(0, IN_A_REQUEST)
                        .mapToObj(i -> new AlterConfigsRequest.AlterConfigsResource()
                                .setResourceType(GROUP)
                                .setResourceName(longName(number, i))
                                .setConfigs(List.of(new AlterConfigsRequest.AlterableConfig()
                                        .setName("consumer.session.timeout.ms")
                                        .setValue("50000"))))
                        .toList());
        return first(client.call(AlterConfigsResponse.class, request, 1).responses().stream()
                .map(AlterConfigsResponse.AlterConfigsResourceResponse::errorCode));
    }

    private static ErrorCode addGroupConfigs(WireClient client, int number) throws IOException {
        IncrementalAlterConfigsRequest request = new IncrementalAlterConfigsRequest()
                .setResources(IntStream.range(0, IN_A_REQUEST)
                        .mapToObj(i -> new IncrementalAlterConfigsRequest.AlterConfigsResource()
                                .setResourceType(GROUP)
                                .setResourceName(longName(number, i))
                                .setConfigs(List.of(new IncrementalAlterConfigsRequest.AlterableConfig()
                                        .setName("consumer.session.timeout.ms")
                                        .setValue("50000"))))
                        .toList());
        return first(client.call(IncrementalAlterConfigsResponse.class, request, 1).responses().stream()
                .map(IncrementalAlterConfigsResponse.AlterConfigsResourceResponse::errorCode));
    }

    private static ErrorCode alterQuotas(WireClient client, int number) throws IOException {
        AlterClientQuotasRequest request = new AlterClientQuotasRequest()
                .setEntries(IntStream.range(0, IN_A_REQUEST)
                        .mapToObj(i -> new AlterClientQuotasRequest.EntryData()
                                .setEntity(List.of(new AlterClientQuotasRequest.EntityData()
                                        .setEntityType("client-id")
                                        .setEntityName("c".repeat(200) + number + "-" + i)))
                                .setOps(List.of(new AlterClientQuotasRequest.OpData()
                                        .setKey("producer_byte_rate")
                                        .setValue(1e9))))
                        .toList());
        return first(client.call(AlterClientQuotasResponse.class, request, 0).entries().stream()
                .map(AlterClientQuotasResponse.EntryData::errorCode));
    }

    private static void addGroupFloods(Map<ApiKey, StateFlood> floods) {
        long shortBytes = 4 << 20;
        floods.put(
                ApiKey.JOIN_GROUP,
                StateFlood.of(
                        StatePart.GROUPS,
                        shortBytes,
                        ErrorCode.GROUP_MAX_SIZE_REACHED,
                        (client, number) -> ErrorCode.of(
                                join(client, "joined-" + number, LARGE_BYTES).errorCode())));
        floods.put(
                ApiKey.SYNC_GROUP,
                StateFlood.of(
                        StatePart.GROUPS, shortBytes, ErrorCode.GROUP_MAX_SIZE_REACHED, StateFloods::joinAndSync));
        floods.put(
                ApiKey.CONSUMER_GROUP_HEARTBEAT,
                StateFlood.of(StatePart.GROUPS, shortBytes, ErrorCode.GROUP_MAX_SIZE_REACHED, StateFloods::heartbeat));
        floods.put(
                ApiKey.OFFSET_COMMIT,
                StateFlood.of(
                        StatePart.OFFSETS,
                        shortBytes,
                        ErrorCode.GROUP_MAX_SIZE_REACHED,
                        client -> createTopic(client, COMMITTED, COMMITTED_PARTITIONS),
                        StateFloods::commit));
    }

    /** Joins a new group with the given metadata. */
    static JoinGroupResponse join(WireClient client, String group, int sizeBytes) throws IOException {
        JoinGroupRequest request = new JoinGroupRequest()
                .setGroupId(group)
                .setSessionTimeoutMs(300_000)
                .setRebalanceTimeoutMs(300_000)
                .setProtocolType("consumer")
                .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                        .setName("range")
                        .setMetadata(Unpooled.wrappedBuffer(new byte[sizeBytes]))));
        return client.call(JoinGroupResponse.class, request, 3);
    }

    private static ErrorCode joinAndSync(WireClient client, int number) throws IOException {
        String group = "synced-" + number;
        JoinGroupResponse joined = join(client, group, 10);
        if (joined.errorCode() != 0) {
            return ErrorCode.of(joined.errorCode());
        }
        SyncGroupRequest request = new SyncGroupRequest()
                .setGroupId(group)
                .setMemberId(joined.memberId())
                .setGenerationId(joined.generationId())
                .setAssignments(List.of(new SyncGroupRequest.SyncGroupRequestAssignment()
                        .setMemberId(joined.memberId())
                        .setAssignment(Unpooled.wrappedBuffer(new byte[LARGE_BYTES]))));
        return ErrorCode.of(client.call(SyncGroupResponse.class, request, 3).errorCode());
    }

    private static ErrorCode heartbeat(WireClient client, int number) throws IOException {
        boolean byPattern = number % 2 == 0;
        ConsumerGroupHeartbeatRequest request = new ConsumerGroupHeartbeatRequest()
                .setGroupId("consumer-" + number)
                .setMemberId("m")
                .setRebalanceTimeoutMs(10_000)
                .setSubscribedTopicRegex(byPattern ? ".*" : null)
                .setSubscribedTopicNames(
                        byPattern
                                ? null
                                : IntStream.range(0, 1_000)
                                        .mapToObj(i -> "s".repeat(200) + i)
                                        .toList())
                .setTopicPartitions(List.of());
        return ErrorCode.of(
                client.call(ConsumerGroupHeartbeatResponse.class, request, 1).errorCode());
    }

    private static ErrorCode commit(WireClient client, int number) throws IOException {
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId("committed-" + number)
                .setGenerationIdOrMemberEpoch(-1)
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName(COMMITTED)
                        .setPartitions(IntStream.range(0, COMMITTED_PARTITIONS)
                                .mapToObj(i -> new OffsetCommitRequest.OffsetCommitRequestPartition()
                                        .setPartitionIndex(i)
                                        .setCommittedMetadata("x".repeat(4_000)))
                                .toList())));
        return first(client.call(OffsetCommitResponse.class, request, 7).topics().get(0).partitions().stream()
                .map(OffsetCommitResponse.OffsetCommitResponsePartition::errorCode));
    }

    private static void addTransactionFloods(Map<ApiKey, StateFlood> floods) {
        long shortBytes = 1 << 20;
        floods.put(
                ApiKey.INIT_PRODUCER_ID,
                StateFlood.of(
                        StatePart.TRANSACTIONS,
                        shortBytes,
                        ErrorCode.POLICY_VIOLATION,
                        (client, number) -> ErrorCode.of(
                                init(client, "i".repeat(9_000) + number).errorCode())));
        floods.put(
                ApiKey.ADD_PARTITIONS_TO_TXN,
                StateFlood.of(
                        StatePart.TRANSACTIONS,
                        shortBytes,
                        ErrorCode.POLICY_VIOLATION,
                        client -> createTopic(client, ADDED, ADDED_PARTITIONS),
                        StateFloods::addPartitions));
        floods.put(
                ApiKey.ADD_OFFSETS_TO_TXN,
                StateFlood.of(StatePart.TRANSACTIONS, shortBytes, ErrorCode.POLICY_VIOLATION, StateFloods::addOffsets));
        floods.put(
                ApiKey.TXN_OFFSET_COMMIT,
                StateFlood.of(
                        StatePart.OFFSETS,
                        4 << 20,
                        ErrorCode.GROUP_MAX_SIZE_REACHED,
                        client -> createTopic(client, COMMITTED, COMMITTED_PARTITIONS),
                        new TransactionFlood()));
    }

    /** Creates a topic unless another flood has created it. */
    private static void createTopic(WireClient client, String name, int partitions) throws IOException {
        client.call(
                CreateTopicsResponse.class,
                new CreateTopicsRequest()
                        .setTimeoutMs(10_000)
                        .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                                .setName(name)
                                .setNumPartitions(partitions)
                                .setReplicationFactor((short) 1))),
                5);
    }

    private static InitProducerIdResponse init(WireClient client, String id) throws IOException {
        return client.call(
                InitProducerIdResponse.class,
                new InitProducerIdRequest()
                        .setTransactionalId(id)
                        .setTransactionTimeoutMs(600_000)
                        .setProducerId(-1)
                        .setProducerEpoch((short) -1),
                4);
    }

    private static ErrorCode addPartitions(WireClient client, int number) throws IOException {
        String id = "added-" + number;
        InitProducerIdResponse producer = init(client, id);
        if (producer.errorCode() != 0) {
            return ErrorCode.of(producer.errorCode());
        }
        AddPartitionsToTxnRequest request = new AddPartitionsToTxnRequest()
                .setV3AndBelowTransactionalId(id)
                .setV3AndBelowProducerId(producer.producerId())
                .setV3AndBelowProducerEpoch(producer.producerEpoch())
                .setV3AndBelowTopics(List.of(new AddPartitionsToTxnRequest.AddPartitionsToTxnTopic()
                        .setName(ADDED)
                        .setPartitions(
                                IntStream.range(0, ADDED_PARTITIONS).boxed().toList())));
        return first(client
                .call(AddPartitionsToTxnResponse.class, request, 3)
                .resultsByTopicV3AndBelow()
                .get(0)
                .resultsByPartition()
                .stream()
                .map(AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult::partitionErrorCode));
    }

    private static ErrorCode addOffsets(WireClient client, int number) throws IOException {
        String id = "offsets-" + number;
        InitProducerIdResponse producer = init(client, id);
        ErrorCode error = ErrorCode.of(producer.errorCode());
        for (int i = 0; i < IN_A_REQUEST && error == ErrorCode.NONE; i++) {
            AddOffsetsToTxnRequest request = new AddOffsetsToTxnRequest()
                    .setTransactionalId(id)
                    .setProducerId(producer.producerId())
                    .setProducerEpoch(producer.producerEpoch())
                    .setGroupId("group-" + i);
            error = ErrorCode.of(
                    client.call(AddOffsetsToTxnResponse.class, request, 3).errorCode());
        }
        return error;
    }

    private static void addProducerFloods(Map<ApiKey, StateFlood> floods) {
        long shortBytes = 256 << 10;
        floods.put(
                ApiKey.PRODUCE,
                StateFlood.of(
                                StatePart.PRODUCERS,
                                shortBytes,
                                ErrorCode.NONE,
                                client -> createTopic(client, PRODUCED, PRODUCED_PARTITIONS),
                                (client, number) -> ErrorCode.of(client.produce(
                                                PRODUCED,
                                                number % PRODUCED_PARTITIONS,
                                                WireClient.batch(1, new byte[10], 1_000_000L + number, (short) 0, 0))
                                        .errorCode()))
                        .orAt(StateFlood.limit("partition.producers")));
        floods.put(
                ApiKey.WRITE_TXN_MARKERS,
                StateFlood.of(
                                StatePart.PRODUCERS,
                                shortBytes,
                                ErrorCode.NONE,
                                client -> createTopic(client, PRODUCED, PRODUCED_PARTITIONS),
                                StateFloods::writeMarkers)
                        .orAt(StateFlood.limit("partition.producers")));
    }

    private static ErrorCode writeMarkers(WireClient client, int number) throws IOException {
        WriteTxnMarkersRequest request = new WriteTxnMarkersRequest()
                .setMarkers(IntStream.range(0, IN_A_REQUEST)
                        .mapToObj(i -> new WriteTxnMarkersRequest.WritableTxnMarker()
                                .setProducerId(10_000_000L + (long) number * IN_A_REQUEST + i)
                                .setProducerEpoch((short) 0)
                                .setTopics(List.of(new WriteTxnMarkersRequest.WritableTxnMarkerTopic()
                                        .setName(PRODUCED)
                                        .setPartitionIndexes(List.of(i % PRODUCED_PARTITIONS)))))
                        .toList());
        return first(client.call(WriteTxnMarkersResponse.class, request, 1).markers().stream()
                .flatMap(marker -> marker.topics().stream())
                .flatMap(topic -> topic.partitions().stream())
                .map(WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult::errorCode));
    }

    private static void addConnectionFloods(Map<ApiKey, StateFlood> floods) {
        floods.put(
                ApiKey.API_VERSIONS,
                new StateFlood(
                        StatePart.CONNECTIONS,
                        1 << 20,
                        ErrorCode.NETWORK_EXCEPTION,
                        List.of("journalq_network_connections_over_limit_total{limit=\"max.connections\"}"),
                        StateFlood.Setup.NOTHING,
                        new ConnectionFlood()));
        floods.put(
                ApiKey.FETCH,
                StateFlood.of(
                        StatePart.FETCH_SESSIONS,
                        4 << 20,
                        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
                        StateFloods::fetchManyTopics));
        floods.put(
                ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
                StateFlood.of(
                        StatePart.CLIENT_METRICS,
                        256 << 10,
                        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                        (client, number) -> ErrorCode.of(client.call(
                                        GetTelemetrySubscriptionsResponse.class,
                                        new GetTelemetrySubscriptionsRequest().setClientInstanceId(new Uuid(7, number)),
                                        0)
                                .errorCode())));
        floods.put(
                ApiKey.PUSH_TELEMETRY,
                StateFlood.of(
                        StatePart.CLIENT_METRICS, 256 << 10, ErrorCode.THROTTLING_QUOTA_EXCEEDED, StateFloods::push));
    }

    /** FETCH_SESSION_ID_NOT_FOUND for a response without a session. */
    private static ErrorCode fetchManyTopics(WireClient client, int number) throws IOException {
        FetchRequest request = new FetchRequest()
                .setMaxBytes(1)
                .setSessionEpoch(0)
                .setTopics(IntStream.range(0, 1_000)
                        .mapToObj(i -> new FetchRequest.FetchTopic()
                                .setTopic("f".repeat(200) + number + "-" + i)
                                .setPartitions(List.of(new FetchRequest.FetchPartition())))
                        .toList());
        FetchResponse response = client.call(FetchResponse.class, request, 12);
        return response.sessionId() == 0 ? ErrorCode.FETCH_SESSION_ID_NOT_FOUND : ErrorCode.of(response.errorCode());
    }

    private static ErrorCode push(WireClient client, int number) throws IOException {
        PushTelemetryRequest request = new PushTelemetryRequest()
                .setClientInstanceId(new Uuid(8, number))
                .setMetrics(Unpooled.EMPTY_BUFFER);
        ErrorCode error = ErrorCode.of(
                client.call(PushTelemetryResponse.class, request, 0).errorCode());
        // No subscription selects the client, but it is remembered.
        return error == ErrorCode.UNKNOWN_SUBSCRIPTION_ID ? ErrorCode.NONE : error;
    }

    /**
     * Commits the offsets of a new group in each step. A connection has one transaction, so that the bound of the
     * offsets is reached before that of the transactions.
     */
    private static final class TransactionFlood implements StateFlood.Step {
        private final Map<WireClient, InitProducerIdResponse> producers = new ConcurrentHashMap<>();

        @Override
        public ErrorCode run(WireClient client, int number) throws IOException {
            InitProducerIdResponse producer = producers.get(client);
            if (producer == null) {
                producer = init(client, idOf(client));
                if (producer.errorCode() != 0) {
                    return ErrorCode.of(producer.errorCode());
                }
                producers.put(client, producer);
            }
            TxnOffsetCommitRequest request = new TxnOffsetCommitRequest()
                    .setTransactionalId(idOf(client))
                    .setGroupId("pending-" + number)
                    .setProducerId(producer.producerId())
                    .setProducerEpoch(producer.producerEpoch())
                    .setTopics(List.of(new TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic()
                            .setName(COMMITTED)
                            .setPartitions(IntStream.range(0, COMMITTED_PARTITIONS)
                                    .mapToObj(i -> new TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition()
                                            .setPartitionIndex(i)
                                            .setCommittedMetadata("x".repeat(4_000)))
                                    .toList())));
            return first(client.call(TxnOffsetCommitResponse.class, request, 5).topics().get(0).partitions().stream()
                    .map(TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition::errorCode));
        }

        private static String idOf(WireClient client) {
            return "transaction-" + client.socket.getLocalPort();
        }
    }

    /**
     * Opens connections that stay open, with client ids of the maximum length. NETWORK_EXCEPTION: the broker closed
     * one.
     */
    private static final class ConnectionFlood implements StateFlood.Step {
        private final List<WireClient> opened = Collections.synchronizedList(new ArrayList<>());

        @Override
        public ErrorCode run(WireClient client, int number) throws IOException {
            ApiVersionsRequest request = new ApiVersionsRequest()
                    .setClientSoftwareName("n".repeat(30_000))
                    .setClientSoftwareVersion("v" + number);
            WireClient another = new WireClient(client.socket.getPort());
            try {
                ErrorCode outcome = ErrorCode.of(
                        another.call(ApiVersionsResponse.class, request, 3).errorCode());
                opened.add(another);
                return outcome;
            } catch (IOException closed) {
                another.close();
                pause();
                return ErrorCode.NETWORK_EXCEPTION;
            }
        }

        /** A closed connection occupies its port for a minute, and there are about 28,000 ports. */
        private static void pause() {
            try {
                Thread.sleep(REFUSED_PAUSE_MS);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void close() throws IOException {
            for (WireClient client : opened) {
                client.close();
            }
            opened.clear();
        }
    }
}
