package io.journalq.server.api.peer;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AssignReplicasToDirsRequest;
import io.journalq.common.protocol.message.AssignReplicasToDirsRequest.DirectoryData;
import io.journalq.common.protocol.message.AssignReplicasToDirsRequest.PartitionData;
import io.journalq.common.protocol.message.AssignReplicasToDirsRequest.TopicData;
import io.journalq.common.protocol.message.AssignReplicasToDirsResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Outcome;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * AssignReplicasToDirs, version 0 (KIP-858): a broker tells which of its replicas have lost acknowledged records, or have
 * files that cannot be used any more, by assigning them to the directory LOST. Other assignments are not kept, because each broker
 * finds its partitions in its directories. Errors are those of the whole response.
 */
public final class AssignReplicasToDirsHandler implements Handler<AssignReplicasToDirsRequest> {
    /** Stands for any directory that is gone. */
    private static final Uuid LOST = new Uuid(0, 1);

    private static final int VERSION = 0;
    private static final int TIMEOUT_MS = 10_000;

    private final Controller controller;
    private final PeerGate gate;

    public AssignReplicasToDirsHandler(Controller controller, PeerGate gate) {
        this.controller = controller;
        this.gate = gate;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.ASSIGN_REPLICAS_TO_DIRS, VERSION, VERSION, AccessRule.asks(Right.CLUSTER_ACTION));
    }

    @Override
    public void handle(RequestContext context, AssignReplicasToDirsRequest request) {
        if (!gate.admits(context, ApiKey.ASSIGN_REPLICAS_TO_DIRS, Right.CLUSTER_ACTION)) {
            context.respond(
                    new AssignReplicasToDirsResponse().setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code()));
            return;
        }
        DeferredResponse.within(
                TIMEOUT_MS,
                controller.loseRecords(request.brokerId(), request.brokerEpoch(), lost(request)),
                context,
                (error, failure) -> new AssignReplicasToDirsResponse()
                        .setErrorCode(
                                (failure == null ? error : Outcome.of(failure).error()).code()));
    }

    private static Map<Uuid, List<Integer>> lost(AssignReplicasToDirsRequest request) {
        Map<Uuid, List<Integer>> numbers = new LinkedHashMap<>();
        for (DirectoryData directory : request.directories()) {
            if (!directory.id().equals(LOST)) {
                continue;
            }
            for (TopicData topic : directory.topics()) {
                List<Integer> ofTopic = numbers.computeIfAbsent(topic.topicId(), none -> new ArrayList<>());
                topic.partitions().forEach(partition -> ofTopic.add(partition.partitionIndex()));
            }
        }
        return numbers;
    }

    /** The directory of replicas that have lost records. */
    static DirectoryData lost(Map<Uuid, List<Integer>> partitions) {
        return new DirectoryData()
                .setId(LOST)
                .setTopics(partitions.entrySet().stream()
                        .map(topic -> new TopicData()
                                .setTopicId(topic.getKey())
                                .setPartitions(topic.getValue().stream()
                                        .map(number -> new PartitionData().setPartitionIndex(number))
                                        .toList()))
                        .toList());
    }
}
