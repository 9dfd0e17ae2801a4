package io.journalq.server.api.admin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class AlterPartitionReassignmentsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
    void shouldAcceptTheReplicaThatThePartitionHas(int version) throws Exception {
        assertThat(assign(createTopic(1), 0, version)).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldRefuseAReplicaWhenItIsNotTheBroker() throws Exception {
        assertThat(assign(createTopic(1), 7, 1)).isEqualTo(ErrorCode.INVALID_REPLICA_ASSIGNMENT);
        assertThat(assign(newName(), 0, 1)).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    @Test
    void shouldRefuseToCancelWhenNothingIsInProgress() throws Exception {
        assertThat(assign(createTopic(1), null, 0)).isEqualTo(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS);
    }

    private ErrorCode assign(String topic, Integer node, int version) throws Exception {
        AlterPartitionReassignmentsRequest request = new AlterPartitionReassignmentsRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setTopics(List.of(new AlterPartitionReassignmentsRequest.ReassignableTopic()
                        .setName(topic)
                        .setPartitions(List.of(new AlterPartitionReassignmentsRequest.ReassignablePartition()
                                .setPartitionIndex(0)
                                .setReplicas(node == null ? null : List.of(node))))));
        AlterPartitionReassignmentsResponse.ReassignableTopicResponse response = call(
                        AlterPartitionReassignmentsResponse.class, request, version)
                .responses()
                .get(0);
        assertThat(response.name()).isEqualTo(topic);
        return error(response.partitions().get(0).errorCode());
    }
}
