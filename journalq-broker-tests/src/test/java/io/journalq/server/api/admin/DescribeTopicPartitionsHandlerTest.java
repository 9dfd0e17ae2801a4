package io.journalq.server.api.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class DescribeTopicPartitionsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.DESCRIBE_TOPIC_PARTITIONS)
    void shouldReturnAPageAndACursorForTheNext(int version) throws Exception {
        String topic = createTopic(3);
        DescribeTopicPartitionsRequest request = request(topic).setResponsePartitionLimit(2);

        DescribeTopicPartitionsResponse first = call(DescribeTopicPartitionsResponse.class, request, version);

        assertThat(first.topics().get(0).name()).isEqualTo(topic);
        assertThat(first.topics().get(0).partitions()).hasSize(2);
        assertThat(first.nextCursor().topicName()).isEqualTo(topic);
        assertThat(first.nextCursor().partitionIndex()).isEqualTo(2);
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchTopic() throws Exception {
        DescribeTopicPartitionsResponse response = call(DescribeTopicPartitionsResponse.class, request(newName()), 0);

        assertThat(error(response.topics().get(0).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        assertThat(response.nextCursor()).isNull();
    }

    @Test
    void shouldReportAnErrorWhenNoTopicCanHaveTheName() throws Exception {
        DescribeTopicPartitionsResponse response = call(DescribeTopicPartitionsResponse.class, request("a b"), 0);

        assertThat(error(response.topics().get(0).errorCode())).isEqualTo(ErrorCode.INVALID_TOPIC_EXCEPTION);
    }

    @Test
    void shouldNotBeginAgainWhenTheCursorIsFarBehindTheLastPartition() throws Exception {
        String topic = createTopic(2);

        DescribeTopicPartitionsResponse response = call(
                DescribeTopicPartitionsResponse.class,
                request(topic)
                        .setCursor(new DescribeTopicPartitionsRequest.Cursor()
                                .setTopicName(topic)
                                .setPartitionIndex(Integer.MAX_VALUE)),
                0);

        assertThat(response.topics().get(0).partitions()).isEmpty();
        assertThat(response.nextCursor()).isNull();
    }

    private static DescribeTopicPartitionsRequest request(String topic) {
        return new DescribeTopicPartitionsRequest()
                .setTopics(List.of(new DescribeTopicPartitionsRequest.TopicRequest().setName(topic)));
    }
}
