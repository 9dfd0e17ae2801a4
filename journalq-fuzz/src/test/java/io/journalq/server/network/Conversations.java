package io.journalq.server.network;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.AddOffsetsToTxnRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest.TopicPartitions;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.HeartbeatRequest;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.fuzz.Parts;
import io.journalq.fuzz.SampleBatches;
import io.journalq.fuzz.SampleMessages;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;

/** What clients say one after the other to a broker that is new: whatever it numbers begins at 0. Stateless. */
final class Conversations {
    private static final String NAME = SampleMessages.NAME;
    private static final int TIMEOUT_MS = 30_000;

    private Conversations() {}

    static List<byte[]> all() {
        List<byte[]> all = new ArrayList<>();
        for (CompressionCodec codec : CompressionCodec.values()) {
            byte[] batch = SampleBatches.bytes(codec, 5, RecordBatch.NO_PRODUCER_ID, false);
            all.add(Parts.of(produce(batch, null), fetch(0, 0), fetch(1, 1), listOffsets()));
        }
        byte[] idempotent = SampleBatches.bytes(CompressionCodec.NONE, 3, 0, false);
        all.add(Parts.of(initProducerId(null), produce(idempotent, null), produce(idempotent, null), fetch(0, -1)));
        byte[] transactional = SampleBatches.bytes(CompressionCodec.NONE, 3, 0, true);
        all.add(Parts.of(
                initProducerId(NAME),
                produce(transactional, NAME),
                request(
                        new AddOffsetsToTxnRequest()
                                .setTransactionalId(NAME)
                                .setProducerId(0)
                                .setProducerEpoch((short) 0)
                                .setGroupId(NAME),
                        4),
                sample(ApiKey.TXN_OFFSET_COMMIT),
                endTransaction(),
                fetch(0, -1),
                sample(ApiKey.DESCRIBE_TRANSACTIONS)));
        all.add(Parts.of(classicJoin(), classicSync(), commit(), heartbeat(), sample(ApiKey.OFFSET_FETCH)));
        all.add(Parts.of(
                consumerHeartbeat(0),
                consumerHeartbeat(1),
                sample(ApiKey.CONSUMER_GROUP_DESCRIBE),
                consumerHeartbeat(-1)));
        all.add(Parts.of(sample(ApiKey.DELETE_RECORDS), sample(ApiKey.DELETE_TOPICS), sample(ApiKey.METADATA)));
        return all;
    }

    private static byte[] sample(ApiKey key) {
        return ServerTarget.request(key, key.highestVersion(), SampleMessages.request(key, key.highestVersion()));
    }

    private static byte[] request(ApiMessage message, int version) {
        return ServerTarget.request(message.apiKey(), version, SampleMessages.write(message, version));
    }

    private static byte[] produce(byte[] batch, String transactionalId) {
        return request(
                new ProduceRequest()
                        .setTransactionalId(transactionalId)
                        .setAcks((short) -1)
                        .setTimeoutMs(TIMEOUT_MS)
                        .setTopicData(List.of(new ProduceRequest.TopicProduceData()
                                .setName(NAME)
                                .setPartitionData(List.of(new ProduceRequest.PartitionProduceData()
                                        .setRecords(RecordsData.of(Unpooled.wrappedBuffer(batch))))))),
                12);
    }

    private static byte[] fetch(int sessionId, int sessionEpoch) {
        return request(
                new FetchRequest()
                        .setMaxWaitMs(10)
                        .setMaxBytes(1 << 20)
                        .setSessionId(sessionId)
                        .setSessionEpoch(sessionEpoch)
                        .setTopics(List.of(new FetchRequest.FetchTopic()
                                .setTopic(NAME)
                                .setPartitions(
                                        List.of(new FetchRequest.FetchPartition().setPartitionMaxBytes(1 << 20))))),
                12);
    }

    private static byte[] listOffsets() {
        return request(
                new ListOffsetsRequest()
                        .setReplicaId(-1)
                        .setTopics(List.of(new ListOffsetsRequest.ListOffsetsTopic()
                                .setName(NAME)
                                .setPartitions(List.of(new ListOffsetsRequest.ListOffsetsPartition()
                                        .setTimestamp(SampleBatches.TIMESTAMP_MS))))),
                7);
    }

    private static byte[] initProducerId(String transactionalId) {
        return request(
                new InitProducerIdRequest().setTransactionalId(transactionalId).setTransactionTimeoutMs(TIMEOUT_MS), 4);
    }

    private static byte[] endTransaction() {
        return request(
                new EndTxnRequest()
                        .setTransactionalId(NAME)
                        .setProducerId(0)
                        .setProducerEpoch((short) 0)
                        .setCommitted(true),
                4);
    }

    /** The old version needs no member id. */
    private static byte[] classicJoin() {
        return request(
                new JoinGroupRequest()
                        .setGroupId(NAME)
                        .setSessionTimeoutMs(TIMEOUT_MS)
                        .setRebalanceTimeoutMs(TIMEOUT_MS)
                        .setProtocolType("consumer")
                        .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                .setName("range")
                                .setMetadata(
                                        Unpooled.wrappedBuffer(new byte[] {0, 0, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 0})))),
                3);
    }

    private static byte[] classicSync() {
        return request(
                new SyncGroupRequest().setGroupId(NAME).setGenerationId(1).setMemberId(NAME), 3);
    }

    private static byte[] heartbeat() {
        return request(
                new HeartbeatRequest().setGroupId(NAME).setGenerationId(1).setMemberId(NAME), 3);
    }

    private static byte[] commit() {
        return request(
                new OffsetCommitRequest()
                        .setGroupId(NAME)
                        .setGenerationIdOrMemberEpoch(-1)
                        .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                                .setName(NAME)
                                .setPartitions(List.of(new OffsetCommitRequest.OffsetCommitRequestPartition()
                                        .setCommittedOffset(0)
                                        .setCommittedLeaderEpoch(-1))))),
                8);
    }

    private static byte[] consumerHeartbeat(int epoch) {
        return request(
                new ConsumerGroupHeartbeatRequest()
                        .setGroupId(NAME)
                        .setMemberId(NAME)
                        .setMemberEpoch(epoch)
                        .setRebalanceTimeoutMs(epoch == 0 ? TIMEOUT_MS : -1)
                        .setSubscribedTopicNames(epoch == 0 ? List.of(NAME) : null)
                        .setTopicPartitions(epoch == 0 ? List.<TopicPartitions>of() : null),
                0);
    }
}
