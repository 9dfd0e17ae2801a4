package io.journalq.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.broker.TestBroker;
import io.journalq.server.broker.WireClient;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** A connection to the {@link SharedBroker}, and the preparations that the tests of handlers share. */
@ExtendWith(SharedBroker.class)
public abstract class HandlerTestBase {
    protected static final int TIMEOUT_MS = 10_000;
    protected static final short NONE = ErrorCode.NONE.code();
    private static final AtomicInteger NAMES = new AtomicInteger();
    private static final int GENERATION = 1;

    protected TestBroker broker;
    protected WireClient client;

    /** A member of a group. */
    public record Member(String group, String id, int generation) {}

    /** A producer with a transactional id. */
    public record Producer(String transactionalId, long id, short epoch) {}

    @BeforeEach
    void connect(TestBroker shared) throws IOException {
        broker = shared;
        client = new WireClient(shared.port());
    }

    @AfterEach
    void disconnect() throws IOException {
        client.close();
    }

    protected <T extends ApiMessage> T call(Class<T> type, ApiMessage request, int version) throws IOException {
        return client.call(type, request, version);
    }

    /** A name that no other test uses. */
    protected String newName() {
        return getClass().getSimpleName() + "-" + NAMES.incrementAndGet();
    }

    protected static ErrorCode error(short code) {
        return ErrorCode.of(code);
    }

    protected static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    /** 65,536 names with the same hash code, which a client can choose. */
    protected static List<String> namesWithOneHash() {
        return IntStream.range(0, 1 << 16)
                .mapToObj(bits -> IntStream.range(0, 16)
                        .mapToObj(bit -> (bits >> bit & 1) == 0 ? "Aa" : "BB")
                        .collect(Collectors.joining()))
                .toList();
    }

    /** Creates a topic; returns its name. */
    protected String createTopic(int partitions) throws IOException {
        String name = newName();
        CreateTopicsResponse response = call(
                CreateTopicsResponse.class,
                new CreateTopicsRequest()
                        .setTimeoutMs(TIMEOUT_MS)
                        .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                                .setName(name)
                                .setNumPartitions(partitions)
                                .setReplicationFactor((short) 1))),
                7);
        assertThat(error(response.topics().get(0).errorCode())).isEqualTo(ErrorCode.NONE);
        return name;
    }

    protected MetadataResponse.MetadataResponseTopic metadata(String topic) throws IOException {
        MetadataRequest request = new MetadataRequest()
                .setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName(topic)))
                .setAllowAutoTopicCreation(false);
        return call(MetadataResponse.class, request, 12).topics().get(0);
    }

    protected Uuid topicId(String topic) throws IOException {
        return metadata(topic).topicId();
    }

    /** Appends one batch to the first partition of a topic. */
    protected void produce(String topic, int records) throws IOException {
        assertThat(error(client.produce(topic, 0, WireClient.batch(records, new byte[10]))
                        .errorCode()))
                .isEqualTo(ErrorCode.NONE);
    }

    /** Joins a new classic group as its only member, without an assignment yet. */
    protected Member joinGroup() throws IOException {
        String group = newName();
        JoinGroupResponse joined = call(
                JoinGroupResponse.class,
                new JoinGroupRequest()
                        .setGroupId(group)
                        .setSessionTimeoutMs(TIMEOUT_MS)
                        .setRebalanceTimeoutMs(TIMEOUT_MS)
                        .setProtocolType("consumer")
                        .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                .setName("range")
                                .setMetadata(bytes("metadata")))),
                3);
        assertThat(error(joined.errorCode())).isEqualTo(ErrorCode.NONE);
        return new Member(group, joined.memberId(), GENERATION);
    }

    /** Joins a new classic group as its only member, and assigns "assignment" to it. */
    protected Member joinStableGroup() throws IOException {
        Member member = joinGroup();
        SyncGroupResponse synced = call(
                SyncGroupResponse.class,
                new SyncGroupRequest()
                        .setGroupId(member.group())
                        .setMemberId(member.id())
                        .setGenerationId(member.generation())
                        .setAssignments(List.of(new SyncGroupRequest.SyncGroupRequestAssignment()
                                .setMemberId(member.id())
                                .setAssignment(bytes("assignment")))),
                3);
        assertThat(error(synced.errorCode())).isEqualTo(ErrorCode.NONE);
        return member;
    }

    protected ErrorCode heartbeat(Member member) throws IOException {
        HeartbeatRequest request = new HeartbeatRequest()
                .setGroupId(member.group())
                .setMemberId(member.id())
                .setGenerationId(member.generation());
        return error(call(HeartbeatResponse.class, request, 3).errorCode());
    }

    /** Commits an offset of the first partition of a topic for a group without members. */
    protected void commitOffset(String group, String topic, long offset) throws IOException {
        OffsetCommitResponse response = call(
                OffsetCommitResponse.class,
                new OffsetCommitRequest()
                        .setGroupId(group)
                        .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                                .setName(topic)
                                .setPartitions(List.of(new OffsetCommitRequest.OffsetCommitRequestPartition()
                                        .setPartitionIndex(0)
                                        .setCommittedOffset(offset))))),
                8);
        assertThat(error(response.topics().get(0).partitions().get(0).errorCode()))
                .isEqualTo(ErrorCode.NONE);
    }

    /** The offset that a group has committed for the first partition of a topic. */
    protected OffsetFetchResponse.OffsetFetchResponsePartition committedOffset(String group, String topic)
            throws IOException {
        return call(
                        OffsetFetchResponse.class,
                        new OffsetFetchRequest()
                                .setGroupId(group)
                                .setRequireStable(true)
                                .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopic()
                                        .setName(topic)
                                        .setPartitionIndexes(List.of(0)))),
                        7)
                .topics()
                .get(0)
                .partitions()
                .get(0);
    }

    /** Starts a producer with a new transactional id. */
    protected Producer startProducer() throws IOException {
        String id = newName();
        InitProducerIdResponse response = call(
                InitProducerIdResponse.class,
                new InitProducerIdRequest().setTransactionalId(id).setTransactionTimeoutMs(60_000),
                4);
        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        return new Producer(id, response.producerId(), response.producerEpoch());
    }

    /** Starts a producer, and a transaction with the first partition of a topic. */
    protected Producer beginTransaction(String topic) throws IOException {
        Producer producer = startProducer();
        AddPartitionsToTxnResponse response = call(
                AddPartitionsToTxnResponse.class,
                new AddPartitionsToTxnRequest()
                        .setV3AndBelowTransactionalId(producer.transactionalId())
                        .setV3AndBelowProducerId(producer.id())
                        .setV3AndBelowProducerEpoch(producer.epoch())
                        .setV3AndBelowTopics(List.of(new AddPartitionsToTxnRequest.AddPartitionsToTxnTopic()
                                .setName(topic)
                                .setPartitions(List.of(0)))),
                3);
        assertThat(error(response.resultsByTopicV3AndBelow()
                        .get(0)
                        .resultsByPartition()
                        .get(0)
                        .partitionErrorCode()))
                .isEqualTo(ErrorCode.NONE);
        return producer;
    }

    /** Appends one transactional batch to the first partition of a topic. */
    protected void produceInTransaction(Producer producer, String topic, int records) throws IOException {
        ByteBuf batch = WireClient.transactionalBatch(records, new byte[10], producer.id(), producer.epoch(), 0);
        ProduceRequest request =
                WireClient.produceRequest(topic, 0, batch).setTransactionalId(producer.transactionalId());
        ProduceResponse response = call(ProduceResponse.class, request, 11);
        assertThat(error(response.responses().get(0).partitionResponses().get(0).errorCode()))
                .isEqualTo(ErrorCode.NONE);
    }

    /** Sets one setting of a topic. */
    protected void setTopicConfig(String topic, String name, String value) throws IOException {
        IncrementalAlterConfigsResponse response = call(
                IncrementalAlterConfigsResponse.class,
                new IncrementalAlterConfigsRequest()
                        .setResources(List.of(new IncrementalAlterConfigsRequest.AlterConfigsResource()
                                .setResourceType((byte) 2)
                                .setResourceName(topic)
                                .setConfigs(List.of(new IncrementalAlterConfigsRequest.AlterableConfig()
                                        .setName(name)
                                        .setValue(value))))),
                1);
        assertThat(error(response.responses().get(0).errorCode())).isEqualTo(ErrorCode.NONE);
    }

    /** The value of a topic's setting, and its origin. */
    protected DescribeConfigsResponse.DescribeConfigsResourceResult topicConfig(String topic, String name)
            throws IOException {
        return call(
                        DescribeConfigsResponse.class,
                        new DescribeConfigsRequest()
                                .setResources(List.of(new DescribeConfigsRequest.DescribeConfigsResource()
                                        .setResourceType((byte) 2)
                                        .setResourceName(topic)
                                        .setConfigurationKeys(List.of(name)))),
                        4)
                .results()
                .get(0)
                .configs()
                .get(0);
    }
}
