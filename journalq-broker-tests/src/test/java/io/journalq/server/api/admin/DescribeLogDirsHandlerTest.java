package io.journalq.server.api.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class DescribeLogDirsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.DESCRIBE_LOG_DIRS)
    void shouldReportTheSizeOfThePartition(int version) throws Exception {
        String topic = createTopic(1);
        produce(topic, 3);

        DescribeLogDirsResponse response = describe(topic, version);

        assertThat(response.results()).singleElement().satisfies(directory -> {
            assertThat(error(directory.errorCode())).isEqualTo(ErrorCode.NONE);
            assertThat(directory.logDir()).startsWith("/");
            assertThat(directory.topics().get(0).name()).isEqualTo(topic);
            assertThat(directory.topics().get(0).partitions().get(0).partitionSize())
                    .isPositive();
        });
    }

    @Test
    void shouldReportNothingWhenThereIsNoSuchTopic() throws Exception {
        DescribeLogDirsResponse response = describe(newName(), 4);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.results().get(0).topics()).isEmpty();
    }

    private DescribeLogDirsResponse describe(String topic, int version) throws Exception {
        DescribeLogDirsRequest request = new DescribeLogDirsRequest()
                .setTopics(List.of(new DescribeLogDirsRequest.DescribableLogDirTopic()
                        .setTopic(topic)
                        .setPartitions(List.of(0))));
        return call(DescribeLogDirsResponse.class, request, version);
    }
}
