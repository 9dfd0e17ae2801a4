package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterPartitionRequest;
import io.journalq.common.protocol.message.AlterPartitionResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Outcome;
import io.journalq.server.control.PartitionOutcome;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.List;

/**
 * Changes the in-sync replicas of partitions, as their leader proposes. Version 3 (KIP-903). Errors that concern the
 * broker or the controller are those of the whole response.
 */
public final class AlterPartitionHandler implements Handler<AlterPartitionRequest> {
    private static final int VERSION = 3;
    private static final int TIMEOUT_MS = 10_000;

    private final Controller controller;
    private final PeerGate gate;

    public AlterPartitionHandler(Controller controller, PeerGate gate) {
        this.controller = controller;
        this.gate = gate;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.ALTER_PARTITION, VERSION, VERSION, AccessRule.asks(Right.CLUSTER_ACTION));
    }

    @Override
    public void handle(RequestContext context, AlterPartitionRequest request) {
        if (!gate.admits(context, ApiKey.ALTER_PARTITION, Right.CLUSTER_ACTION)) {
            context.respond(new AlterPartitionResponse().setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code()));
            return;
        }
        List<InSyncProposal> proposals = proposals(request);
        DeferredResponse.within(
                TIMEOUT_MS,
                controller.alterPartitions(request.brokerId(), request.brokerEpoch(), proposals),
                context,
                (outcomes, failure) -> failure == null
                        ? response(request, outcomes)
                        : new AlterPartitionResponse()
                                .setErrorCode(Outcome.of(failure).error().code()));
    }

    private static List<InSyncProposal> proposals(AlterPartitionRequest request) {
        List<InSyncProposal> proposals = new ArrayList<>();
        for (AlterPartitionRequest.TopicData topic : request.topics()) {
            for (AlterPartitionRequest.PartitionData partition : topic.partitions()) {
                proposals.add(new InSyncProposal(
                        topic.topicId(),
                        partition.partitionIndex(),
                        partition.leaderEpoch(),
                        partition.partitionEpoch(),
                        partition.newIsrWithEpochs().stream()
                                .map(member -> new InSyncProposal.Member(member.brokerId(), member.brokerEpoch()))
                                .toList()));
            }
        }
        return proposals;
    }

    private static AlterPartitionResponse response(AlterPartitionRequest request, List<PartitionOutcome> outcomes) {
        List<AlterPartitionResponse.TopicData> topics = new ArrayList<>();
        int next = 0;
        for (AlterPartitionRequest.TopicData topic : request.topics()) {
            List<AlterPartitionResponse.PartitionData> partitions = new ArrayList<>();
            for (AlterPartitionRequest.PartitionData partition : topic.partitions()) {
                PartitionOutcome outcome = outcomes.get(next++);
                if (outcome.error() == ErrorCode.STALE_BROKER_EPOCH) {
                    return new AlterPartitionResponse().setErrorCode(ErrorCode.STALE_BROKER_EPOCH.code());
                }
                partitions.add(new AlterPartitionResponse.PartitionData()
                        .setPartitionIndex(partition.partitionIndex())
                        .setErrorCode(outcome.error().code())
                        .setLeaderId(outcome.leader())
                        .setLeaderEpoch(outcome.leaderEpoch())
                        .setPartitionEpoch(outcome.partitionEpoch())
                        .setIsr(outcome.inSyncReplicas()));
            }
            topics.add(new AlterPartitionResponse.TopicData()
                    .setTopicId(topic.topicId())
                    .setPartitions(partitions));
        }
        return new AlterPartitionResponse().setTopics(topics);
    }
}
