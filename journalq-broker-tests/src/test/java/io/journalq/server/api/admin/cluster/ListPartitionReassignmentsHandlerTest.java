package io.journalq.server.api.admin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class ListPartitionReassignmentsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.LIST_PARTITION_REASSIGNMENTS)
    void shouldListNoReassignment(int version) throws Exception {
        assertNone(new ListPartitionReassignmentsRequest().setTimeoutMs(TIMEOUT_MS), version);
    }

    @Test
    void shouldListNoReassignmentWhenThereIsNoSuchTopic() throws Exception {
        ListPartitionReassignmentsRequest request = new ListPartitionReassignmentsRequest()
                .setTopics(List.of(new ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics()
                        .setName(newName())
                        .setPartitionIndexes(List.of(0))));

        assertNone(request, 0);
    }

    private void assertNone(ListPartitionReassignmentsRequest request, int version) throws Exception {
        ListPartitionReassignmentsResponse response = call(ListPartitionReassignmentsResponse.class, request, version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.topics()).isEmpty();
    }
}
