package io.journalq.server.api.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class CreatePartitionsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.CREATE_PARTITIONS)
    void shouldAddPartitionsToTheTopic(int version) throws Exception {
        String topic = createTopic(1);

        assertThat(create(topic, 3, version)).isEqualTo(ErrorCode.NONE);

        assertThat(metadata(topic).partitions()).hasSize(3);
    }

    @Test
    void shouldRefuseWhenTheTopicWouldShrinkOrDoesNotExist() throws Exception {
        assertThat(create(createTopic(2), 1, 3)).isEqualTo(ErrorCode.INVALID_PARTITIONS);
        assertThat(create(newName(), 3, 3)).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    @Test
    void shouldAddNothingWhenATopicIsNamedTwice() throws Exception {
        String topic = createTopic(1);
        CreatePartitionsRequest request =
                new CreatePartitionsRequest().setTimeoutMs(TIMEOUT_MS).setTopics(List.of(to(topic, 2), to(topic, 3)));

        assertThat(call(CreatePartitionsResponse.class, request, 3).results())
                .extracting(result -> error(result.errorCode()))
                .containsExactly(ErrorCode.INVALID_REQUEST);
        assertThat(metadata(topic).partitions()).hasSize(1);
    }

    private static CreatePartitionsRequest.CreatePartitionsTopic to(String topic, int count) {
        return new CreatePartitionsRequest.CreatePartitionsTopic()
                .setName(topic)
                .setCount(count)
                .setAssignments(null);
    }

    private ErrorCode create(String topic, int count, int version) throws Exception {
        CreatePartitionsRequest request =
                new CreatePartitionsRequest().setTimeoutMs(TIMEOUT_MS).setTopics(List.of(to(topic, count)));
        CreatePartitionsResponse.CreatePartitionsTopicResult result =
                call(CreatePartitionsResponse.class, request, version).results().get(0);
        assertThat(result.name()).isEqualTo(topic);
        return error(result.errorCode());
    }
}
