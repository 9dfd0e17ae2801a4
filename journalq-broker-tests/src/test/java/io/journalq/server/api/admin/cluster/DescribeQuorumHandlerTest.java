package io.journalq.server.api.admin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class DescribeQuorumHandlerTest extends HandlerTestBase {
    private static final int FIRST_VERSION_WITH_NODES = 2;

    @ServedVersions(ApiKey.DESCRIBE_QUORUM)
    void shouldDescribeAQuorumOfOneVoter(int version) throws Exception {
        DescribeQuorumResponse response = describe("__cluster_metadata", version);

        DescribeQuorumResponse.PartitionData log =
                response.topics().get(0).partitions().get(0);
        assertThat(error(log.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(log.leaderId()).isZero();
        assertThat(log.highWatermark()).isPositive();
        assertThat(log.currentVoters()).singleElement().satisfies(voter -> assertThat(voter.replicaId())
                .isZero());
        if (version >= FIRST_VERSION_WITH_NODES) {
            assertThat(response.nodes().get(0).listeners().get(0).port()).isEqualTo(broker.port());
        }
    }

    @Test
    void shouldReportAnErrorWhenTheTopicIsNotTheMetadataLog() throws Exception {
        DescribeQuorumResponse response = describe(newName(), 2);

        assertThat(error(response.topics().get(0).partitions().get(0).errorCode()))
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    private DescribeQuorumResponse describe(String topic, int version) throws Exception {
        DescribeQuorumRequest request = new DescribeQuorumRequest()
                .setTopics(List.of(new DescribeQuorumRequest.TopicData()
                        .setTopicName(topic)
                        .setPartitions(List.of(new DescribeQuorumRequest.PartitionData().setPartitionIndex(0)))));
        return call(DescribeQuorumResponse.class, request, version);
    }
}
