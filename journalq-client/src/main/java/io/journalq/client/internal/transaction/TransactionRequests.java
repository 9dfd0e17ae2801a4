package io.journalq.client.internal.transaction;

import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.GroupMember;
import io.journalq.client.internal.coordinator.CoordinatorRequest;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddOffsetsToTxnRequest;
import io.journalq.common.protocol.message.AddOffsetsToTxnResponse;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.TxnOffsetCommitRequest;
import io.journalq.common.protocol.message.TxnOffsetCommitResponse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Creates the requests of a transactional producer. The second version of the transaction protocol uses the newest
 * versions of the APIs.
 */
final class TransactionRequests {
    private static final int INIT_NEWEST = 5;
    private static final int ADD_PARTITIONS_NEWEST = 3;
    private static final int ADD_OFFSETS_NEWEST = 4;
    private static final int END_NEWEST_OF_FIRST = 4;
    private static final int END_NEWEST = 5;
    private static final int OFFSET_COMMIT_NEWEST_OF_FIRST = 4;
    private static final int OFFSET_COMMIT_NEWEST = 5;
    private static final short FIRST_VERSION_WITH_CURRENT_EPOCH = 3;
    private static final short FIRST_VERSION_WITH_MEMBER = 3;

    private TransactionRequests() {}

    /** Obtains a producer id and epoch, and aborts the transaction that the previous producer left open. */
    static CoordinatorRequest<InitProducerIdResponse> init(
            TransactionRunner.Config config, TransactionRunner.ProducerIdentity before) {
        String subject = "start of producer " + config.transactionalId();
        return new CoordinatorRequest<>(ApiKey.INIT_PRODUCER_ID, InitProducerIdResponse.class, INIT_NEWEST, subject) {
            @Override
            protected ApiMessage request(short version) {
                InitProducerIdRequest request = new InitProducerIdRequest()
                        .setTransactionalId(config.transactionalId())
                        .setTransactionTimeoutMs(config.timeoutMs());
                return version < FIRST_VERSION_WITH_CURRENT_EPOCH
                        ? request
                        : request.setProducerId(before.producerId()).setProducerEpoch(before.epoch());
            }

            @Override
            protected ErrorCode errorOf(InitProducerIdResponse response) {
                return ErrorCode.of(response.errorCode());
            }
        };
    }

    static CoordinatorRequest<AddPartitionsToTxnResponse> addPartitions(
            TransactionRunner.Config config,
            TransactionRunner.ProducerIdentity identity,
            Collection<TopicPartition> partitions) {
        String subject = "partitions of transaction " + config.transactionalId();
        return new CoordinatorRequest<>(
                ApiKey.ADD_PARTITIONS_TO_TXN, AddPartitionsToTxnResponse.class, ADD_PARTITIONS_NEWEST, subject) {
            @Override
            protected ApiMessage request(short version) {
                Map<String, List<Integer>> byTopic = new LinkedHashMap<>();
                partitions.forEach(partition -> byTopic.computeIfAbsent(partition.topic(), name -> new ArrayList<>())
                        .add(partition.partition()));
                List<AddPartitionsToTxnRequest.AddPartitionsToTxnTopic> topics = new ArrayList<>();
                byTopic.forEach((name, indexes) -> topics.add(new AddPartitionsToTxnRequest.AddPartitionsToTxnTopic()
                        .setName(name)
                        .setPartitions(indexes)));
                return new AddPartitionsToTxnRequest()
                        .setV3AndBelowTransactionalId(config.transactionalId())
                        .setV3AndBelowProducerId(identity.producerId())
                        .setV3AndBelowProducerEpoch(identity.epoch())
                        .setV3AndBelowTopics(topics);
            }

            /** The first error that is not retriable decides. The coordinator then adds none of the partitions. */
            @Override
            protected ErrorCode errorOf(AddPartitionsToTxnResponse response) {
                ErrorCode found = ErrorCode.NONE;
                for (AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult topic :
                        response.resultsByTopicV3AndBelow()) {
                    for (AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult partition :
                            topic.resultsByPartition()) {
                        ErrorCode error = ErrorCode.of(partition.partitionErrorCode());
                        boolean telling = error != ErrorCode.NONE && error != ErrorCode.OPERATION_NOT_ATTEMPTED;
                        if (telling && (found == ErrorCode.NONE || !error.retriable())) {
                            found = error;
                        }
                    }
                }
                return found;
            }
        };
    }

    static CoordinatorRequest<AddOffsetsToTxnResponse> addOffsets(
            TransactionRunner.Config config, TransactionRunner.ProducerIdentity identity, String groupId) {
        String subject = "offsets of group " + groupId + " in transaction " + config.transactionalId();
        return new CoordinatorRequest<>(
                ApiKey.ADD_OFFSETS_TO_TXN, AddOffsetsToTxnResponse.class, ADD_OFFSETS_NEWEST, subject) {
            @Override
            protected ApiMessage request(short version) {
                return new AddOffsetsToTxnRequest()
                        .setTransactionalId(config.transactionalId())
                        .setProducerId(identity.producerId())
                        .setProducerEpoch(identity.epoch())
                        .setGroupId(groupId);
            }

            @Override
            protected ErrorCode errorOf(AddOffsetsToTxnResponse response) {
                return ErrorCode.of(response.errorCode());
            }
        };
    }

    /** Sent to the coordinator of the group. */
    static CoordinatorRequest<TxnOffsetCommitResponse> commitOffsets(
            TransactionRunner.Config config,
            TransactionRunner.ProducerIdentity identity,
            boolean second,
            GroupMember member,
            Map<TopicPartition, CommittedOffset> offsets) {
        int newest = second ? OFFSET_COMMIT_NEWEST : OFFSET_COMMIT_NEWEST_OF_FIRST;
        String subject = "commit of group " + member.groupId() + " in transaction " + config.transactionalId();
        return new CoordinatorRequest<>(ApiKey.TXN_OFFSET_COMMIT, TxnOffsetCommitResponse.class, newest, subject) {
            @Override
            protected ApiMessage request(short version) {
                TxnOffsetCommitRequest request = new TxnOffsetCommitRequest()
                        .setTransactionalId(config.transactionalId())
                        .setGroupId(member.groupId())
                        .setProducerId(identity.producerId())
                        .setProducerEpoch(identity.epoch())
                        .setTopics(topics(offsets));
                return version < FIRST_VERSION_WITH_MEMBER
                        ? request
                        : request.setMemberId(member.memberId())
                                .setGenerationId(member.epoch())
                                .setGroupInstanceId(member.instanceId());
            }

            @Override
            protected ErrorCode errorOf(TxnOffsetCommitResponse response) {
                for (TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic topic : response.topics()) {
                    for (TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition partition : topic.partitions()) {
                        if (partition.errorCode() != ErrorCode.NONE.code()) {
                            return ErrorCode.of(partition.errorCode());
                        }
                    }
                }
                return ErrorCode.NONE;
            }
        };
    }

    static CoordinatorRequest<EndTxnResponse> end(
            TransactionRunner.Config config,
            TransactionRunner.ProducerIdentity identity,
            boolean second,
            boolean commit) {
        String subject = (commit ? "commit" : "abort") + " of transaction " + config.transactionalId();
        int newest = second ? END_NEWEST : END_NEWEST_OF_FIRST;
        return new CoordinatorRequest<>(ApiKey.END_TXN, EndTxnResponse.class, newest, subject) {
            @Override
            protected ApiMessage request(short version) {
                return new EndTxnRequest()
                        .setTransactionalId(config.transactionalId())
                        .setProducerId(identity.producerId())
                        .setProducerEpoch(identity.epoch())
                        .setCommitted(commit);
            }

            @Override
            protected ErrorCode errorOf(EndTxnResponse response) {
                return ErrorCode.of(response.errorCode());
            }
        };
    }

    private static List<TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic> topics(
            Map<TopicPartition, CommittedOffset> offsets) {
        Map<String, List<TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition>> byTopic = new LinkedHashMap<>();
        offsets.forEach((partition, offset) -> byTopic.computeIfAbsent(partition.topic(), name -> new ArrayList<>())
                .add(new TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition()
                        .setPartitionIndex(partition.partition())
                        .setCommittedOffset(offset.offset())
                        .setCommittedLeaderEpoch(offset.leaderEpoch())
                        .setCommittedMetadata(offset.metadata())));
        List<TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic> topics = new ArrayList<>();
        byTopic.forEach((name, partitions) -> topics.add(new TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic()
                .setName(name)
                .setPartitions(partitions)));
        return topics;
    }
}
