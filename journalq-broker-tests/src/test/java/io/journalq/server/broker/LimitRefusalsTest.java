package io.journalq.server.broker;

import static io.journalq.server.broker.InputTrace.limit;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.CreatePartitionsRequest;
import io.journalq.common.protocol.message.CreatePartitionsResponse;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.ListTransactionsRequest;
import io.journalq.common.protocol.message.ListTransactionsResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Requests of groups, transactions and administrators that exceed a limit. Each gets the error that
 * docs/guides/operations.md names, one line in the log with the client and the limit, and one count.
 */
class LimitRefusalsTest {
    @TempDir
    private Path directory;

    private TestBroker broker;
    private TransactionClient producer;
    private WireClient client;
    private InputTrace trace;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory)
                .with("admin.listener", "127.0.0.1:0")
                .with("shards", "1")
                .with("group.max.count", "2")
                .with("group.max.size", "1")
                .with("offset.metadata.max.bytes", "10")
                .with("offsets.topic.num.partitions", "1")
                .with("transaction.state.log.num.partitions", "1")
                .with("max.partitions.per.topic", "3")
                .with("max.partitions", "7")
                .start();
        broker.createTopic("t", 2, Map.of());
        producer = new TransactionClient(broker.port(), "x", true);
        client = producer.wire;
        producer.findCoordinators("one");
        assertThat(producer.init()).isEqualTo(ErrorCode.NONE);
        // two groups, which is the maximum
        assertThat(commit("one", "")).isEqualTo(ErrorCode.NONE);
        assertThat(commit("two", "")).isEqualTo(ErrorCode.NONE);
        trace = new InputTrace(broker);
    }

    @AfterEach
    void stop() throws Exception {
        trace.close();
        producer.close();
        broker.close();
    }

    @Test
    void shouldTellWhenThereAreTooManyGroupsOrMembers() throws Exception {
        assertThat(join("three", null)).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertRefused("group.max", "group three: GROUP_MAX_SIZE_REACHED");

        assertThat(heartbeat("three", "m", null)).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertRefused("group.max", "group three: GROUP_MAX_SIZE_REACHED");

        assertThat(commit("three", "")).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertRefused("group.max", "group three: GROUP_MAX_SIZE_REACHED");

        assertThat(producer.commitOffset("three", "t", 0, 1)).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertRefused("group.max", "group three: GROUP_MAX_SIZE_REACHED");

        assertThat(heartbeat("one", "first", null)).isEqualTo(ErrorCode.NONE);
        assertThat(heartbeat("one", "second", null)).isEqualTo(ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertRefused("group.max", "group one: GROUP_MAX_SIZE_REACHED");
    }

    @Test
    void shouldTellWhenAMemberSaysTooMuch() throws Exception {
        assertThat(join("one", "i".repeat(1_025))).isEqualTo(ErrorCode.INVALID_REQUEST);
        assertRefused("group.member", "group one: INVALID_REQUEST");

        assertThat(heartbeat("one", "m".repeat(1_025), null)).isEqualTo(ErrorCode.INVALID_REQUEST);
        assertRefused("group.member", "group one: INVALID_REQUEST");

        assertThat(join("g".repeat(1_025), null)).isEqualTo(ErrorCode.INVALID_GROUP_ID);
        assertRefused("group.id", "g...: INVALID_GROUP_ID");

        assertThat(heartbeat("one", "m", "x".repeat(2_049))).isEqualTo(ErrorCode.INVALID_REGULAR_EXPRESSION);
        assertRefused("pattern", "group one: INVALID_REGULAR_EXPRESSION");
        assertThat(heartbeat("one", "m", "x{100}{100}")).isEqualTo(ErrorCode.INVALID_REGULAR_EXPRESSION);
        assertRefused("pattern", "group one: INVALID_REGULAR_EXPRESSION");

        // once for two partitions of one request
        assertThat(commit("one", "x".repeat(11))).isEqualTo(ErrorCode.OFFSET_METADATA_TOO_LARGE);
        assertRefused("offset.metadata.max.bytes", "group one: OFFSET_METADATA_TOO_LARGE");
    }

    @Test
    void shouldTellWhenTransactionsGoBeyondLimits() throws Exception {
        try (TransactionClient other = new TransactionClient(broker.port(), "i".repeat(10_001), true)) {
            assertThat(other.init()).isEqualTo(ErrorCode.INVALID_REQUEST);
            trace.assertOneResult(other.wire, Set.of(limit("transactional.id")), "request refused", "INVALID_REQUEST");
        }
        ListTransactionsResponse listed = client.call(
                ListTransactionsResponse.class,
                new ListTransactionsRequest().setTransactionalIdPattern("x".repeat(2_049)),
                2);
        assertThat(listed.errorCode()).isEqualTo(ErrorCode.INVALID_REGULAR_EXPRESSION.code());
        assertRefused("pattern", "INVALID_REGULAR_EXPRESSION");
    }

    @Test
    void shouldTellWhenTopicsGoBeyondLimits() throws Exception {
        assertThat(createTopic("four", 4)).isEqualTo(ErrorCode.INVALID_PARTITIONS);
        assertRefused("max.partitions.per.topic", "topic four: INVALID_PARTITIONS");
        assertThat(createPartitions("t", 4)).isEqualTo(ErrorCode.INVALID_PARTITIONS);
        assertRefused("max.partitions.per.topic", "topic t: INVALID_PARTITIONS");
        assertThat(createTopic("n".repeat(250), 1)).isEqualTo(ErrorCode.INVALID_TOPIC_EXCEPTION);
        assertRefused("topic.name", "n...: INVALID_TOPIC_EXCEPTION");

        // given four partitions, two of them of internal topics, and three more
        assertThat(createTopic("three", 3)).isEqualTo(ErrorCode.NONE);
        assertThat(createTopic("one", 1)).isEqualTo(ErrorCode.POLICY_VIOLATION);
        assertRefused("max.partitions", "topic one: POLICY_VIOLATION");
        assertThat(createPartitions("t", 3)).isEqualTo(ErrorCode.POLICY_VIOLATION);
        assertRefused("max.partitions", "topic t: POLICY_VIOLATION");
        assertThat(askFor("one")).isEqualTo(ErrorCode.POLICY_VIOLATION);
        assertRefused("max.partitions", "topic one: POLICY_VIOLATION");
    }

    @Test
    void shouldStaySilentWhenARequestIsWrongAndGoesBeyondNoLimit() throws Exception {
        assertThat(join("", null)).isEqualTo(ErrorCode.INVALID_GROUP_ID);
        assertThat(heartbeat("one", "m", "(")).isEqualTo(ErrorCode.INVALID_REGULAR_EXPRESSION);
        assertThat(createTopic("none", 0)).isEqualTo(ErrorCode.INVALID_PARTITIONS);
        assertThat(createPartitions("t", 1)).isEqualTo(ErrorCode.INVALID_PARTITIONS);

        assertThat(trace.grown()).isEmpty();
        assertThat(trace.lines()).isEmpty();
    }

    @Test
    void shouldCountAndStaySilentWhenAConnectionOpensMoreFetchSessionsThanItMayHave() throws Exception {
        FetchRequest fetch = new FetchRequest()
                .setMaxBytes(1_000)
                .setSessionEpoch(0)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic("t")
                        .setPartitions(List.of(new FetchRequest.FetchPartition().setPartitionMaxBytes(1_000)))));
        FetchResponse first = client.call(FetchResponse.class, fetch, 12);
        for (int i = 0; i < 8; i++) {
            assertThat(client.call(FetchResponse.class, fetch, 12).sessionId()).isNotEqualTo(first.sessionId());
        }

        assertThat(trace.grown()).containsOnly(Map.entry(limit("fetch.sessions"), 1.0));
        assertThat(trace.lines()).isEmpty();
    }

    private void assertRefused(String limit, String words) throws Exception {
        trace.assertOneResult(client, Set.of(limit(limit)), "request refused", words, "(" + limit + ")");
    }

    private ErrorCode join(String group, String instanceId) throws Exception {
        JoinGroupResponse response = client.call(
                JoinGroupResponse.class,
                new JoinGroupRequest()
                        .setGroupId(group)
                        .setGroupInstanceId(instanceId)
                        .setSessionTimeoutMs(10_000)
                        .setRebalanceTimeoutMs(10_000)
                        .setProtocolType("consumer")
                        .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                .setName("range")
                                .setMetadata(Unpooled.wrappedBuffer(new byte[] {1})))),
                5);
        return ErrorCode.of(response.errorCode());
    }

    private ErrorCode heartbeat(String group, String memberId, String pattern) throws Exception {
        ConsumerGroupHeartbeatResponse response = client.call(
                ConsumerGroupHeartbeatResponse.class,
                new ConsumerGroupHeartbeatRequest()
                        .setGroupId(group)
                        .setMemberId(memberId)
                        .setRebalanceTimeoutMs(10_000)
                        .setSubscribedTopicNames(pattern == null ? List.of("t") : null)
                        .setSubscribedTopicRegex(pattern)
                        .setTopicPartitions(List.of()),
                1);
        return ErrorCode.of(response.errorCode());
    }

    /** For two partitions. */
    private ErrorCode commit(String group, String text) throws Exception {
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId(group)
                .setGenerationIdOrMemberEpoch(-1)
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName("t")
                        .setPartitions(List.of(
                                new OffsetCommitRequest.OffsetCommitRequestPartition().setCommittedMetadata(text),
                                new OffsetCommitRequest.OffsetCommitRequestPartition()
                                        .setPartitionIndex(1)
                                        .setCommittedMetadata(text)))));
        ErrorCode error;
        do {
            OffsetCommitResponse response = client.call(OffsetCommitResponse.class, request, 8);
            error = ErrorCode.of(response.topics().get(0).partitions().get(0).errorCode());
        } while (error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS);
        return error;
    }

    private ErrorCode createTopic(String name, int partitions) throws Exception {
        CreateTopicsRequest request = new CreateTopicsRequest()
                .setTimeoutMs(30_000)
                .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                        .setName(name)
                        .setNumPartitions(partitions)
                        .setReplicationFactor((short) 1)));
        return ErrorCode.of(client.call(CreateTopicsResponse.class, request, 5)
                .topics()
                .get(0)
                .errorCode());
    }

    private ErrorCode createPartitions(String name, int count) throws Exception {
        CreatePartitionsRequest request = new CreatePartitionsRequest()
                .setTimeoutMs(30_000)
                .setTopics(List.of(new CreatePartitionsRequest.CreatePartitionsTopic()
                        .setName(name)
                        .setCount(count)
                        .setAssignments(null)));
        return ErrorCode.of(client.call(CreatePartitionsResponse.class, request, 3)
                .results()
                .get(0)
                .errorCode());
    }

    /** Requests metadata, which auto-creates topics. */
    private ErrorCode askFor(String topic) throws Exception {
        MetadataRequest request = new MetadataRequest()
                .setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName(topic)))
                .setAllowAutoTopicCreation(true);
        return ErrorCode.of(
                client.call(MetadataResponse.class, request, 8).topics().get(0).errorCode());
    }
}
