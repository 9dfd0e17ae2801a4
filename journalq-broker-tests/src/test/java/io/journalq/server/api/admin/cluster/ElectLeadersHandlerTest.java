package io.journalq.server.api.admin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class ElectLeadersHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.ELECT_LEADERS)
    void shouldSayThatNoElectionIsNeeded(int version) throws Exception {
        assertThat(elect(createTopic(1), version)).isEqualTo(ErrorCode.ELECTION_NOT_NEEDED);
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchPartition() throws Exception {
        assertThat(elect(newName(), 2)).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    private ErrorCode elect(String topic, int version) throws Exception {
        ElectLeadersRequest request = new ElectLeadersRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setTopicPartitions(List.of(new ElectLeadersRequest.TopicPartitions()
                        .setTopic(topic)
                        .setPartitions(List.of(0))));
        ElectLeadersResponse.ReplicaElectionResult result = call(ElectLeadersResponse.class, request, version)
                .replicaElectionResults()
                .get(0);
        assertThat(result.topic()).isEqualTo(topic);
        return error(result.partitionResult().get(0).errorCode());
    }
}
