package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterClientQuotasRequest;
import io.journalq.common.protocol.message.AlterConfigsRequest;
import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.CreatePartitionsRequest;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.GetTelemetrySubscriptionsRequest;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.common.protocol.message.WriteTxnMarkersRequest;
import io.journalq.server.folder.LockHolder;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every API that leaves state behind, driven as fast as 20 connections can, one API after the other, against a broker in a
 * process of its own with the default heap: the broker lives, and a client that does nothing special is served throughout.
 * Each API has {@code -Djournalq.flood.ms} (1,000 by default; 60,000 for a long run).
 */
class StateFloodTest {
    private static final int CONNECTIONS = 20;
    private static final long FLOOD_MS = Long.getLong("journalq.flood.ms", 1_000);
    private static final String DEFAULT_HEAP = "512m";
    private static final int START_SECONDS = 60;
    private static final int LARGE_BYTES = 1_000_000;

    /** Served APIs that leave nothing behind: they read, they delete, or what they change has a fixed number of places. */
    private static final Set<ApiKey> STATELESS = EnumSet.of(
            ApiKey.ALTER_PARTITION_REASSIGNMENTS,
            ApiKey.CONSUMER_GROUP_DESCRIBE,
            ApiKey.CREATE_ACLS, // refused
            ApiKey.DELETE_ACLS,
            ApiKey.DELETE_GROUPS,
            ApiKey.DELETE_RECORDS,
            ApiKey.DELETE_TOPICS,
            ApiKey.DESCRIBE_ACLS,
            ApiKey.DESCRIBE_CLIENT_QUOTAS,
            ApiKey.DESCRIBE_CLUSTER,
            ApiKey.DESCRIBE_CONFIGS,
            ApiKey.DESCRIBE_GROUPS,
            ApiKey.DESCRIBE_LOG_DIRS,
            ApiKey.DESCRIBE_PRODUCERS,
            ApiKey.DESCRIBE_QUORUM,
            ApiKey.DESCRIBE_TOPIC_PARTITIONS,
            ApiKey.DESCRIBE_TRANSACTIONS,
            ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
            ApiKey.ELECT_LEADERS,
            ApiKey.END_TXN,
            ApiKey.FIND_COORDINATOR,
            ApiKey.HEARTBEAT,
            ApiKey.LEAVE_GROUP,
            ApiKey.LIST_CONFIG_RESOURCES,
            ApiKey.LIST_GROUPS,
            ApiKey.LIST_OFFSETS,
            ApiKey.LIST_PARTITION_REASSIGNMENTS,
            ApiKey.LIST_TRANSACTIONS,
            ApiKey.OFFSET_DELETE,
            ApiKey.OFFSET_FETCH,
            ApiKey.OFFSET_FOR_LEADER_EPOCH,
            ApiKey.PUSH_TELEMETRY, // counted with GetTelemetrySubscriptions, and logged
            ApiKey.UPDATE_FEATURES);

    @TempDir
    private Path folder;

    private final Map<ApiKey, Flood> floods = new EnumMap<>(ApiKey.class);
    private final AtomicInteger numbers = new AtomicInteger();
    private Process process;
    private int port;

    /** One step of one connection of a flood. */
    private interface Flood {
        void step(WireClient client, int number) throws IOException;
    }

    @BeforeEach
    void start() throws Exception {
        List<String> command =
                new ArrayList<>(BrokerCommand.inForeground(DEFAULT_HEAP, List.of("-XX:+ExitOnOutOfMemoryError")));
        Path data = folder.resolve("data");
        for (String setting : List.of(
                "listeners=PLAINTEXT://127.0.0.1:0",
                "admin.listener=",
                "group.initial.rebalance.delay.ms=0",
                "auto.create.topics.max.rate=1000000",
                "write.ahead.max.bytes=1048576",
                "data.directories=" + data)) {
            command.add("--set");
            command.add(setting);
        }
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("broker.log").toFile())
                .start();
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (port == 0) {
            assertThat(process.isAlive() && System.nanoTime() < deadlineNanos)
                    .as("the broker starts")
                    .isTrue();
            port = LockHolder.read(data)
                    .filter(holder -> holder.processId() == process.pid() && holder.address() != null)
                    .map(holder -> Integer.parseInt(
                            holder.address().substring(holder.address().lastIndexOf(':') + 1)))
                    .orElse(0);
            Thread.sleep(50);
        }
        addFloods();
    }

    @AfterEach
    void stop() throws Exception {
        process.destroyForcibly();
        process.waitFor();
    }

    @Test
    void shouldLiveAndServeOthersWhenEveryApiThatLeavesStateBehindIsDrivenAsFastAsItGoes() throws Exception {
        assertEveryApiIsClassified();
        HealthyClient healthy = new HealthyClient();
        Thread client = new Thread(healthy, "healthy");
        client.start();

        for (Map.Entry<ApiKey, Flood> flood : floods.entrySet()) {
            int servedBefore = healthy.served.get();
            drive(flood.getValue());
            assertThat(process.isAlive())
                    .as("the broker lives after %s", flood.getKey())
                    .isTrue();
            assertThat(healthy.failure.get()).as("during %s", flood.getKey()).isNull();
            awaitServed(healthy, servedBefore + 1, flood.getKey());
        }

        healthy.stopped.set(true);
        client.join();
        assertThat(healthy.failure.get()).isNull();
    }

    private void assertEveryApiIsClassified() throws Exception {
        try (WireClient client = new WireClient(port)) {
            Set<ApiKey> served = EnumSet.noneOf(ApiKey.class);
            client.call(ApiVersionsResponse.class, new ApiVersionsRequest(), 0)
                    .apiKeys()
                    .forEach(api -> served.add(ApiKey.of(api.apiKey())));
            Set<ApiKey> classified = EnumSet.copyOf(STATELESS);
            classified.addAll(floods.keySet());
            assertThat(classified)
                    .as("an API that is served leaves state behind, and has a flood here, or is listed as STATELESS")
                    .isEqualTo(served);
        }
    }

    private static void awaitServed(HealthyClient healthy, int count, ApiKey during) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(15);
        while (healthy.served.get() < count) {
            assertThat(System.nanoTime() < deadlineNanos)
                    .as("a client is served during %s: %s", during, healthy.failure.get())
                    .isTrue();
            Thread.sleep(10);
        }
    }

    private void drive(Flood flood) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        List<WireClient> clients = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            WireClient client = new WireClient(port);
            clients.add(client);
            Thread thread = new Thread(() -> {
                try {
                    while (!over.get()) {
                        flood.step(client, numbers.incrementAndGet());
                    }
                } catch (IOException | RuntimeException endedOrRefused) {
                    // The broker may close the connection, and the end of the flood does.
                }
            });
            threads.add(thread);
            thread.start();
        }
        Thread.sleep(FLOOD_MS);
        over.set(true);
        for (WireClient client : clients) {
            client.close();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Sends, and drops the answer. */
    private static void call(WireClient client, ApiMessage request, int version) throws IOException {
        client.send(request, version);
        client.receiveFrame();
    }

    private void addFloods() {
        floods.put(ApiKey.API_VERSIONS, (client, number) -> {
            try (WireClient another = new WireClient(port)) {
                call(
                        another,
                        new ApiVersionsRequest()
                                .setClientSoftwareName("n".repeat(30_000))
                                .setClientSoftwareVersion("v" + number),
                        3);
            }
        });
        floods.put(ApiKey.CREATE_TOPICS, (client, number) -> call(client, topics(number), 5));
        floods.put(
                ApiKey.CREATE_PARTITIONS,
                (client, number) -> call(
                        client,
                        new CreatePartitionsRequest()
                                .setTimeoutMs(10_000)
                                .setTopics(List.of(new CreatePartitionsRequest.CreatePartitionsTopic()
                                        .setName("created-" + number % 1_000 + "-0")
                                        .setCount(2 + number % 10_000)
                                        .setAssignments(null))),
                        1));
        floods.put(
                ApiKey.METADATA,
                (client, number) -> call(
                        client,
                        new MetadataRequest()
                                .setAllowAutoTopicCreation(true)
                                .setTopics(IntStream.range(0, 100)
                                        .mapToObj(i -> new MetadataRequest.MetadataRequestTopic()
                                                .setName("asked-" + number + "-" + i))
                                        .toList()),
                        8));
        floods.put(
                ApiKey.ALTER_CONFIGS,
                (client, number) -> call(
                        client,
                        new AlterConfigsRequest()
                                .setResources(List.of(new AlterConfigsRequest.AlterConfigsResource()
                                        .setResourceType((byte) 2)
                                        .setResourceName("created-" + number % 1_000 + "-0")
                                        .setConfigs(List.of(new AlterConfigsRequest.AlterableConfig()
                                                .setName("retention.ms")
                                                .setValue("" + number))))),
                        1));
        floods.put(
                ApiKey.INCREMENTAL_ALTER_CONFIGS,
                (client, number) -> call(
                        client,
                        new IncrementalAlterConfigsRequest()
                                .setResources(IntStream.range(0, 100)
                                        .mapToObj(i -> new IncrementalAlterConfigsRequest.AlterConfigsResource()
                                                .setResourceType((byte) 32)
                                                .setResourceName("g".repeat(200) + number + "-" + i)
                                                .setConfigs(List.of(new IncrementalAlterConfigsRequest.AlterableConfig()
                                                        .setName("consumer.session.timeout.ms")
                                                        .setValue("50000"))))
                                        .toList()),
                        1));
        floods.put(
                ApiKey.ALTER_CLIENT_QUOTAS,
                (client, number) -> call(
                        client,
                        new AlterClientQuotasRequest()
                                .setEntries(IntStream.range(0, 100)
                                        .mapToObj(i -> new AlterClientQuotasRequest.EntryData()
                                                .setEntity(List.of(new AlterClientQuotasRequest.EntityData()
                                                        .setEntityType("client-id")
                                                        .setEntityName("c".repeat(200) + number + "-" + i)))
                                                .setOps(List.of(new AlterClientQuotasRequest.OpData()
                                                        .setKey("producer_byte_rate")
                                                        .setValue(1e9))))
                                        .toList()),
                        0));
        addGroupFloods();
        addTransactionFloods();
        floods.put(
                ApiKey.FETCH,
                (client, number) -> call(
                        client,
                        new FetchRequest()
                                .setMaxBytes(1)
                                .setSessionEpoch(0)
                                .setTopics(IntStream.range(0, 1_000)
                                        .mapToObj(i -> new FetchRequest.FetchTopic()
                                                .setTopic("f".repeat(200) + number + "-" + i)
                                                .setPartitions(List.of(new FetchRequest.FetchPartition())))
                                        .toList()),
                        12));
        floods.put(
                ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
                (client, number) -> call(
                        client, new GetTelemetrySubscriptionsRequest().setClientInstanceId(new Uuid(7, number)), 0));
    }

    private static CreateTopicsRequest topics(int number) {
        return new CreateTopicsRequest()
                .setTimeoutMs(10_000)
                .setTopics(IntStream.range(0, 100)
                        .mapToObj(i -> new CreateTopicsRequest.CreatableTopic()
                                .setName("created-" + number + "-" + i)
                                .setNumPartitions(1)
                                .setReplicationFactor((short) 1)
                                .setConfigs(List.of(new CreateTopicsRequest.CreatableTopicConfig()
                                        .setName("retention.ms")
                                        .setValue("" + (100_000 + number * 100L + i)))))
                        .toList());
    }

    private void addGroupFloods() {
        floods.put(ApiKey.JOIN_GROUP, (client, number) -> call(client, join("joined-" + number, LARGE_BYTES), 3));
        floods.put(ApiKey.SYNC_GROUP, (client, number) -> {
            JoinGroupResponse joined = client.call(JoinGroupResponse.class, join("synced-" + number, 10), 3);
            call(
                    client,
                    new SyncGroupRequest()
                            .setGroupId("synced-" + number)
                            .setMemberId(joined.memberId())
                            .setGenerationId(joined.generationId())
                            .setAssignments(List.of(new SyncGroupRequest.SyncGroupRequestAssignment()
                                    .setMemberId(joined.memberId())
                                    .setAssignment(Unpooled.wrappedBuffer(new byte[LARGE_BYTES])))),
                    3);
        });
        floods.put(
                ApiKey.CONSUMER_GROUP_HEARTBEAT,
                (client, number) -> call(
                        client,
                        new ConsumerGroupHeartbeatRequest()
                                .setGroupId("consumer-" + number)
                                .setMemberId("m")
                                .setRebalanceTimeoutMs(10_000)
                                .setSubscribedTopicRegex(number % 2 == 0 ? ".*" : null)
                                .setSubscribedTopicNames(
                                        number % 2 == 0
                                                ? null
                                                : IntStream.range(0, 1_000)
                                                        .mapToObj(i -> "s".repeat(200) + i)
                                                        .toList())
                                .setTopicPartitions(List.of()),
                        1));
        floods.put(
                ApiKey.OFFSET_COMMIT,
                (client, number) -> call(client, commit("committed-" + number, "t", 200, "x".repeat(4_000)), 7));
    }

    private static JoinGroupRequest join(String group, int sizeBytes) {
        return new JoinGroupRequest()
                .setGroupId(group)
                .setSessionTimeoutMs(300_000)
                .setRebalanceTimeoutMs(300_000)
                .setProtocolType("consumer")
                .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                        .setName("range")
                        .setMetadata(Unpooled.wrappedBuffer(new byte[sizeBytes]))));
    }

    private static OffsetCommitRequest commit(String group, String topic, int partitions, String metadata) {
        return new OffsetCommitRequest()
                .setGroupId(group)
                .setGenerationIdOrMemberEpoch(-1)
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName(topic)
                        .setPartitions(IntStream.range(0, partitions)
                                .mapToObj(i -> new OffsetCommitRequest.OffsetCommitRequestPartition()
                                        .setPartitionIndex(i)
                                        .setCommittedMetadata(metadata))
                                .toList())));
    }

    private void addTransactionFloods() {
        floods.put(
                ApiKey.INIT_PRODUCER_ID,
                (client, number) -> call(
                        client,
                        new InitProducerIdRequest()
                                .setTransactionalId("i".repeat(9_000) + number)
                                .setTransactionTimeoutMs(60_000)
                                .setProducerId(-1)
                                .setProducerEpoch((short) -1),
                        4));
        floods.put(ApiKey.ADD_PARTITIONS_TO_TXN, (client, number) -> {
            try (TransactionClient producer = new TransactionClient(port, "added-" + number, false)) {
                producer.init();
                for (int i = 0; i < 100; i++) {
                    producer.addPartition("healthy", 0);
                    producer.addPartition("created-" + i + "-0", i);
                }
            }
        });
        floods.put(ApiKey.ADD_OFFSETS_TO_TXN, (client, number) -> {
            try (TransactionClient producer = new TransactionClient(port, "offsets-" + number, false)) {
                producer.init();
                for (int i = 0; i < 100; i++) {
                    producer.addOffsets("group-" + i);
                }
            }
        });
        floods.put(ApiKey.TXN_OFFSET_COMMIT, (client, number) -> {
            try (TransactionClient producer = new TransactionClient(port, "pending-" + number, true)) {
                producer.init();
                for (int i = 0; i < 1_000; i++) {
                    producer.commitOffset("pending-" + number + "-" + i, "healthy", 0, i);
                }
            }
        });
        floods.put(
                ApiKey.PRODUCE,
                (client, number) -> client.produce(
                        "healthy", 0, WireClient.batch(1, new byte[10], 1_000_000L + number, (short) 0, 0)));
        floods.put(
                ApiKey.WRITE_TXN_MARKERS,
                (client, number) -> call(
                        client,
                        new WriteTxnMarkersRequest()
                                .setMarkers(IntStream.range(0, 100)
                                        .mapToObj(i -> new WriteTxnMarkersRequest.WritableTxnMarker()
                                                .setProducerId(10_000_000L + number * 100L + i)
                                                .setProducerEpoch((short) 0)
                                                .setTopics(List.of(new WriteTxnMarkersRequest.WritableTxnMarkerTopic()
                                                        .setName("healthy")
                                                        .setPartitionIndexes(List.of(0)))))
                                        .toList()),
                        1));
    }

    /** Produces, asks for metadata and commits an offset, again and again, and takes no error. */
    private final class HealthyClient implements Runnable {
        final AtomicInteger served = new AtomicInteger();
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        final AtomicBoolean stopped = new AtomicBoolean();

        HealthyClient() throws IOException, InterruptedException {
            try (WireClient client = new WireClient(port)) {
                call(
                        client,
                        new CreateTopicsRequest()
                                .setTimeoutMs(10_000)
                                .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                                        .setName("healthy")
                                        .setNumPartitions(1)
                                        .setReplicationFactor((short) 1))),
                        5);
                for (byte kind = 0; kind <= 1; kind++) {
                    call(client, new FindCoordinatorRequest().setKey("healthy").setKeyType(kind), 2);
                }
                while (commitOnce(client) != ErrorCode.NONE) {
                    Thread.sleep(10);
                }
            }
        }

        private ErrorCode commitOnce(WireClient client) throws IOException {
            OffsetCommitResponse response =
                    client.call(OffsetCommitResponse.class, commit("healthy", "healthy", 1, ""), 7);
            return ErrorCode.of(response.topics().get(0).partitions().get(0).errorCode());
        }

        @Override
        public void run() {
            try (WireClient client = new WireClient(port)) {
                while (!stopped.get()) {
                    var produced = client.produce("healthy", 0, WireClient.batch(1, new byte[100]));
                    assertThat(ErrorCode.of(produced.errorCode())).isEqualTo(ErrorCode.NONE);
                    assertThat(commitOnce(client)).isEqualTo(ErrorCode.NONE);
                    call(
                            client,
                            new MetadataRequest()
                                    .setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName("healthy"))),
                            8);
                    served.incrementAndGet();
                    Thread.sleep(10);
                }
            } catch (IOException | InterruptedException | RuntimeException | AssertionError wrong) {
                failure.compareAndSet(null, wrong);
            }
        }
    }
}
