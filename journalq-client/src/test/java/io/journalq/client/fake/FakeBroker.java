package io.journalq.client.fake;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.common.protocol.message.DeleteRecordsRequest;
import io.journalq.common.protocol.message.DeleteRecordsResponse;
import io.journalq.common.protocol.message.DescribeClusterResponse;
import io.journalq.common.protocol.message.DescribeLogDirsResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.ListGroupsResponse;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import io.journalq.common.protocol.message.ListTransactionsResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.protocol.message.RequestHeader;
import io.journalq.common.protocol.message.ResponseHeader;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** One broker of a {@link FakeCluster}: a thread per connection, one request after the other. */
final class FakeBroker {
    private static final long DELAY_MS = 30;
    private static final long POLL_MS = 2;
    private static final short OLDEST = 0;

    private final FakeCluster cluster;
    private volatile int id;
    private final ServerSocket server;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    FakeBroker(FakeCluster cluster, int id) throws IOException {
        this.cluster = cluster;
        this.id = id;
        this.server = new ServerSocket(0);
        start("fake-broker-" + id, this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    void exchangeIds(FakeBroker other) {
        int ours = id;
        id = other.id;
        other.id = ours;
    }

    void dropConnections() {
        sockets.forEach(FakeBroker::closeQuietly);
    }

    void close() {
        closed = true;
        try {
            server.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        dropConnections();
    }

    private static void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void accept() {
        while (!closed) {
            try {
                Socket socket = server.accept();
                sockets.add(socket);
                if (closed) {
                    // Closed since it was accepted, and perhaps before it was one of the sockets to close.
                    closeQuietly(socket);
                    return;
                }
                start("fake-connection", () -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        Session session = new Session();
        try (socket) {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            while (true) {
                byte[] frame = new byte[in.readInt()];
                in.readFully(frame);
                if (!respond(Unpooled.wrappedBuffer(frame), out, session)) {
                    return;
                }
            }
        } catch (IOException e) {
            // The client or the test broke the connection.
            return;
        } finally {
            sockets.remove(socket);
        }
    }

    /** Returns false to break the connection. */
    private boolean respond(ByteBuf frame, OutputStream out, Session session) throws IOException {
        ApiKey key = ApiKey.of(frame.getShort(0));
        short version = frame.getShort(2);
        MessageReader reader = new MessageReader(frame);
        short headerVersion = key.requestHeaderVersion(key.hasVersion(version) ? version : OLDEST);
        RequestHeader header = RequestHeader.read(reader, headerVersion);
        Fault fault = decide(key);
        if (fault == Fault.DEAF) {
            while (!closed) {
                sleep(DELAY_MS);
            }
        }
        if (fault == Fault.DROP_BEFORE || fault == Fault.DEAF) {
            return false;
        }
        ApiMessage response;
        short responseVersion = version;
        if (key == ApiKey.API_VERSIONS && version > OLDEST && cluster.refusesNewApiVersions) {
            responseVersion = OLDEST;
            response = new ApiVersionsResponse().setErrorCode(ErrorCode.UNSUPPORTED_VERSION.code());
        } else {
            ApiMessage request = ApiMessages.readRequest(key, reader, version);
            response = carryOut(key, version, request, fault, session);
        }
        if (fault == Fault.DROP_AFTER) {
            return false;
        }
        if (response != null) {
            byte[] bytes = encode(key, responseVersion, header.correlationId(), response);
            if (fault == Fault.DROP_IN_RESPONSE) {
                out.write(bytes, 0, bytes.length / 2);
                return false;
            }
            out.write(bytes);
        }
        return true;
    }

    private Fault decide(ApiKey key) {
        Fault fault = Fault.NONE;
        synchronized (cluster) {
            if (key == ApiKey.API_VERSIONS) {
                fault = cluster.ignoresNewConnections ? Fault.DEAF : Fault.NONE;
            } else {
                cluster.requests++;
                fault = cluster.faults.apply(key);
            }
        }
        if (fault == Fault.DELAY) {
            sleep(DELAY_MS);
        }
        return fault;
    }

    private static byte[] encode(ApiKey key, short version, int correlationId, ApiMessage response) {
        MessageWriter writer = MessageWriter.frame(UnpooledByteBufAllocator.DEFAULT);
        new ResponseHeader().setCorrelationId(correlationId).write(writer, key.responseHeaderVersion(version));
        response.write(writer, version);
        ByteBuf whole = Unpooled.buffer();
        for (ReferenceCounted part : writer.finish()) {
            whole.writeBytes((ByteBuf) part);
            part.release();
        }
        byte[] bytes = new byte[whole.readableBytes()];
        whole.readBytes(bytes);
        return bytes;
    }

    private ApiMessage carryOut(ApiKey key, short version, ApiMessage request, Fault fault, Session session) {
        return switch (key) {
            case FIND_COORDINATOR -> cluster.coordinator.find((FindCoordinatorRequest) request, cluster.brokers);
            case API_VERSIONS -> apiVersions();
            case METADATA -> metadata((MetadataRequest) request);
            case PRODUCE -> produce((ProduceRequest) request, fault);
            case FETCH -> fetch((FetchRequest) request, fault, session);
            case LIST_OFFSETS -> listOffsets((ListOffsetsRequest) request);
            case DELETE_RECORDS -> deleteRecords((DeleteRecordsRequest) request);
            case DESCRIBE_CLUSTER -> describeCluster();
            case DESCRIBE_LOG_DIRS -> describeLogDirs();
            case LIST_GROUPS ->
                new ListGroupsResponse()
                        .setGroups(cluster.coordinatedBy(id).stream()
                                .map(broker -> new ListGroupsResponse.ListedGroup().setGroupId("group-" + broker))
                                .toList());
            case LIST_TRANSACTIONS ->
                new ListTransactionsResponse()
                        .setTransactionStates(cluster.coordinatedBy(id).stream()
                                .map(broker -> new ListTransactionsResponse.TransactionState()
                                        .setTransactionalId("copier-" + broker))
                                .toList());
            case INIT_PRODUCER_ID ->
                ((InitProducerIdRequest) request).transactionalId() == null
                        ? initProducerId()
                        : cluster.coordinator.respond(id, key, version, request);
            default -> cluster.coordinator.respond(id, key, version, request);
        };
    }

    private ApiVersionsResponse apiVersions() {
        List<ApiVersionsResponse.ApiVersion> versions = new ArrayList<>();
        synchronized (cluster) {
            cluster.served.forEach((key, newest) -> versions.add(new ApiVersionsResponse.ApiVersion()
                    .setApiKey(key.id())
                    .setMinVersion(key.lowestVersion())
                    .setMaxVersion((short) Math.min(key.highestVersion(), newest))));
        }
        ApiVersionsResponse response = new ApiVersionsResponse().setApiKeys(versions);
        if (cluster.transactionVersion > 0) {
            response.setFinalizedFeaturesEpoch(1)
                    .setFinalizedFeatures(List.of(new ApiVersionsResponse.FinalizedFeatureKey()
                            .setName("transaction.version")
                            .setMinVersionLevel(cluster.transactionVersion)
                            .setMaxVersionLevel(cluster.transactionVersion)));
        }
        return response;
    }

    private MetadataResponse metadata(MetadataRequest request) {
        MetadataResponse response = new MetadataResponse().setClusterId("fake").setControllerId(0);
        List<MetadataResponse.MetadataResponseBroker> nodes = new ArrayList<>();
        List<MetadataResponse.MetadataResponseTopic> topics = new ArrayList<>();
        synchronized (cluster) {
            for (FakeBroker broker : cluster.brokers) {
                nodes.add(new MetadataResponse.MetadataResponseBroker()
                        .setNodeId(broker.id)
                        .setHost("localhost")
                        .setPort(broker.port()));
            }
            for (MetadataRequest.MetadataRequestTopic asked : request.topics()) {
                topics.add(describe(asked.name() == null ? cluster.topicName(asked.topicId()) : asked.name()));
            }
        }
        return response.setBrokers(nodes).setTopics(topics);
    }

    private DescribeClusterResponse describeCluster() {
        synchronized (cluster) {
            return new DescribeClusterResponse()
                    .setClusterId("fake")
                    .setBrokers(cluster.brokers.stream()
                            .map(broker -> new DescribeClusterResponse.DescribeClusterBroker()
                                    .setBrokerId(broker.id)
                                    .setHost("localhost")
                                    .setPort(broker.port())
                                    .setIsFenced(cluster.fenced.contains(broker.id)))
                            .toList());
        }
    }

    private DescribeLogDirsResponse describeLogDirs() {
        return new DescribeLogDirsResponse()
                .setResults(List.of(new DescribeLogDirsResponse.DescribeLogDirsResult()
                        .setLogDir("/data/" + id)
                        .setTopics(List.of())));
    }

    private MetadataResponse.MetadataResponseTopic describe(String name) {
        MetadataResponse.MetadataResponseTopic topic = new MetadataResponse.MetadataResponseTopic().setName(name);
        ErrorCode refusal = cluster.refusedTopics.get(name);
        if (refusal != null) {
            return topic.setErrorCode(refusal.code()).setPartitions(List.of());
        }
        List<FakePartition> partitions = cluster.topics.get(name);
        if (partitions == null) {
            return topic.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code())
                    .setPartitions(List.of());
        }
        List<MetadataResponse.MetadataResponsePartition> described = new ArrayList<>();
        for (int i = 0; i < partitions.size(); i++) {
            described.add(new MetadataResponse.MetadataResponsePartition()
                    .setPartitionIndex(i)
                    .setLeaderId(partitions.get(i).leader)
                    .setLeaderEpoch(partitions.get(i).leaderEpoch)
                    .setReplicaNodes(List.of(partitions.get(i).leader))
                    .setIsrNodes(List.of(partitions.get(i).leader)));
        }
        Uuid topicId = cluster.topicIds.get(name);
        return topic.setTopicId(topicId).setPartitions(described);
    }

    private InitProducerIdResponse initProducerId() {
        synchronized (cluster) {
            return new InitProducerIdResponse()
                    .setProducerId(cluster.nextProducerId++)
                    .setProducerEpoch((short) 0);
        }
    }

    private ProduceResponse produce(ProduceRequest request, Fault fault) {
        synchronized (cluster) {
            cluster.transactionalIds.add(request.transactionalId());
        }
        List<ProduceResponse.TopicProduceResponse> topics = new ArrayList<>();
        for (ProduceRequest.TopicProduceData topic : request.topicData()) {
            List<ProduceResponse.PartitionProduceResponse> partitions = new ArrayList<>();
            for (ProduceRequest.PartitionProduceData data : topic.partitionData()) {
                FakePartition.Response response =
                        append(topic.name(), data.index(), data.records().buffer(), fault);
                ProduceResponse.PartitionProduceResponse result = new ProduceResponse.PartitionProduceResponse()
                        .setIndex(data.index())
                        .setErrorCode(response.error().code())
                        .setBaseOffset(response.baseOffset());
                partitions.add(result);
                synchronized (cluster) {
                    result.setLogAppendTimeMs(cluster.appendTimeMs);
                    if (cluster.namesLeaders && response.error() == ErrorCode.NOT_LEADER_OR_FOLLOWER) {
                        FakePartition partition =
                                cluster.topics.get(topic.name()).get(data.index());
                        result.setCurrentLeader(new ProduceResponse.LeaderIdAndEpoch()
                                .setLeaderId(partition.leader)
                                .setLeaderEpoch(partition.leaderEpoch));
                    }
                }
            }
            topics.add(new ProduceResponse.TopicProduceResponse()
                    .setName(topic.name())
                    .setPartitionResponses(partitions));
        }
        return request.acks() == 0 ? null : new ProduceResponse().setResponses(topics);
    }

    private FakePartition.Response append(String topic, int index, ByteBuf batch, Fault fault) {
        synchronized (cluster) {
            List<FakePartition> partitions = cluster.topics.get(topic);
            if (index >= partitions.size()) {
                return new FakePartition.Response(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1);
            }
            FakePartition partition = partitions.get(index);
            if (partition.leader != id || fault == Fault.NOT_LEADER) {
                return new FakePartition.Response(ErrorCode.NOT_LEADER_OR_FOLLOWER, -1);
            }
            FakePartition.Response response = partition.append(batch);
            return fault == Fault.TIMED_OUT && response.error() == ErrorCode.NONE
                    ? new FakePartition.Response(ErrorCode.REQUEST_TIMED_OUT, -1)
                    : response;
        }
    }

    private ListOffsetsResponse listOffsets(ListOffsetsRequest request) {
        List<ListOffsetsResponse.ListOffsetsTopicResponse> topics = new ArrayList<>();
        for (ListOffsetsRequest.ListOffsetsTopic topic : request.topics()) {
            List<ListOffsetsResponse.ListOffsetsPartitionResponse> partitions = new ArrayList<>();
            for (ListOffsetsRequest.ListOffsetsPartition asked : topic.partitions()) {
                synchronized (cluster) {
                    FakePartition partition = cluster.topics.get(topic.name()).get(asked.partitionIndex());
                    boolean leads = partition.leader == id;
                    partitions.add(new ListOffsetsResponse.ListOffsetsPartitionResponse()
                            .setPartitionIndex(asked.partitionIndex())
                            .setErrorCode((leads ? partition.lookupError : ErrorCode.NOT_LEADER_OR_FOLLOWER).code())
                            .setTimestamp(-1)
                            .setOffset(partition.offsetOf(asked.timestamp())));
                }
            }
            topics.add(new ListOffsetsResponse.ListOffsetsTopicResponse()
                    .setName(topic.name())
                    .setPartitions(partitions));
        }
        return new ListOffsetsResponse().setTopics(topics);
    }

    /** Deletes nothing, and responds as if it had. */
    private DeleteRecordsResponse deleteRecords(DeleteRecordsRequest request) {
        List<DeleteRecordsResponse.DeleteRecordsTopicResult> topics = new ArrayList<>();
        for (DeleteRecordsRequest.DeleteRecordsTopic topic : request.topics()) {
            List<DeleteRecordsResponse.DeleteRecordsPartitionResult> partitions = new ArrayList<>();
            for (DeleteRecordsRequest.DeleteRecordsPartition asked : topic.partitions()) {
                synchronized (cluster) {
                    List<FakePartition> known = cluster.topics.get(topic.name());
                    boolean exists = asked.partitionIndex() < known.size();
                    boolean leads = exists && known.get(asked.partitionIndex()).leader == id;
                    ErrorCode refused =
                            exists ? ErrorCode.NOT_LEADER_OR_FOLLOWER : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION;
                    partitions.add(new DeleteRecordsResponse.DeleteRecordsPartitionResult()
                            .setPartitionIndex(asked.partitionIndex())
                            .setLowWatermark(asked.offset())
                            .setErrorCode((leads ? ErrorCode.NONE : refused).code()));
                }
            }
            topics.add(new DeleteRecordsResponse.DeleteRecordsTopicResult()
                    .setName(topic.name())
                    .setPartitions(partitions));
        }
        return new DeleteRecordsResponse().setTopics(topics);
    }

    /** An incremental fetch session of one connection. */
    private static final class Session {
        private int epoch;
        private final Map<String, Map<Integer, FetchRequest.FetchPartition>> asked = new HashMap<>();

        /** Returns false when the request does not continue the session. */
        private boolean accept(FetchRequest request) {
            if (request.sessionEpoch() <= 0) {
                asked.clear();
                epoch = 1;
            } else if (request.sessionEpoch() != epoch) {
                return false;
            } else {
                epoch++;
            }
            for (FetchRequest.ForgottenTopic topic : request.forgottenTopicsData()) {
                asked.getOrDefault(topic.topic(), Map.of()).keySet().removeAll(topic.partitions());
            }
            for (FetchRequest.FetchTopic topic : request.topics()) {
                for (FetchRequest.FetchPartition partition : topic.partitions()) {
                    asked.computeIfAbsent(topic.topic(), name -> new TreeMap<>())
                            .put(partition.partition(), partition);
                }
            }
            return true;
        }
    }

    private FetchResponse fetch(FetchRequest request, Fault fault, Session session) {
        if (!session.accept(request)) {
            return new FetchResponse().setErrorCode(ErrorCode.INVALID_FETCH_SESSION_EPOCH.code());
        }
        long endNanos = System.nanoTime() + request.maxWaitMs() * 1_000_000L;
        while (true) {
            List<FetchResponse.FetchableTopicResponse> topics = new ArrayList<>();
            session.asked.forEach((topic, partitions) -> {
                List<FetchResponse.PartitionData> read = new ArrayList<>();
                partitions.values().forEach(asked -> read(topic, asked, fault, request, read));
                if (!read.isEmpty()) {
                    topics.add(new FetchResponse.FetchableTopicResponse()
                            .setTopic(topic)
                            .setPartitions(read));
                }
            });
            if (!topics.isEmpty() || System.nanoTime() > endNanos || closed) {
                // Requests without a session, of old versions, carry the epoch -1.
                int sessionId = request.sessionEpoch() < 0 ? 0 : 1;
                return new FetchResponse().setSessionId(sessionId).setResponses(topics);
            }
            sleep(POLL_MS);
        }
    }

    private void read(
            String topic,
            FetchRequest.FetchPartition asked,
            Fault fault,
            FetchRequest request,
            List<FetchResponse.PartitionData> read) {
        boolean committedOnly = request.isolationLevel() == 1;
        FetchResponse.PartitionData data = new FetchResponse.PartitionData().setPartitionIndex(asked.partition());
        synchronized (cluster) {
            FakePartition partition = cluster.topics.get(topic).get(asked.partition());
            boolean follows = partition.follower == id;
            if ((partition.leader != id && !follows) || fault == Fault.NOT_LEADER) {
                if (cluster.namesLeaders) {
                    data.setCurrentLeader(new FetchResponse.LeaderIdAndEpoch()
                            .setLeaderId(partition.leader)
                            .setLeaderEpoch(partition.leaderEpoch));
                }
                read.add(data.setErrorCode(ErrorCode.NOT_LEADER_OR_FOLLOWER.code()));
            } else if (follows && partition.followerError != ErrorCode.NONE) {
                read.add(data.setErrorCode(partition.followerError.code()));
            } else if (!follows
                    && !request.rackId().isEmpty()
                    && request.rackId().equals(partition.followerRack)) {
                read.add(data.setHighWatermark(partition.endOffset).setPreferredReadReplica(partition.follower));
            } else if (asked.fetchOffset()
                    > partition.lostEnds.getOrDefault(asked.lastFetchedEpoch(), Long.MAX_VALUE)) {
                read.add(data.setDivergingEpoch(new FetchResponse.EpochEndOffset()
                        .setEpoch(asked.lastFetchedEpoch())
                        .setEndOffset(partition.lostEnds.get(asked.lastFetchedEpoch()))));
            } else if (asked.fetchOffset() > partition.endOffset) {
                read.add(data.setErrorCode(ErrorCode.OFFSET_OUT_OF_RANGE.code()));
            } else if (asked.fetchOffset() < partition.endOffset) {
                ByteBuf batches = Unpooled.buffer();
                for (FakePartition.Appended appended : partition.log) {
                    int count = RecordBatch.recordCount(appended.batch(), 0);
                    if ((partition.servesAll || appended.baseOffset() + count > asked.fetchOffset())
                            && batches.readableBytes() < asked.partitionMaxBytes()) {
                        batches.writeBytes(appended.batch(), 0, appended.batch().writerIndex());
                    }
                }
                if (partition.repeatsFirst) {
                    partition.repeatsFirst = false;
                    ByteBuf first = partition.log.get(0).batch();
                    batches.writeBytes(first, 0, first.writerIndex());
                }
                partition.readFromFollower += follows ? 1 : 0;
                read.add(data.setHighWatermark(partition.endOffset)
                        .setAbortedTransactions(committedOnly ? partition.aborted : null)
                        .setRecords(RecordsData.of(batches)));
            }
        }
    }

    private static void sleep(long delayMs) {
        try {
            Thread.sleep(delayMs);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
