package io.journalq.server.api.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class CreateTopicsHandlerTest extends HandlerTestBase {
    private static final int FIRST_VERSION_WITH_SIZE = 5;

    @ServedVersions(ApiKey.CREATE_TOPICS)
    void shouldCreateTheTopicWithItsConfiguration(int version) throws Exception {
        String topic = newName();

        CreateTopicsResponse.CreatableTopicResult result = create(topic, "5000", version);

        assertThat(error(result.errorCode())).isEqualTo(ErrorCode.NONE);
        if (version >= FIRST_VERSION_WITH_SIZE) {
            assertThat(result.topicId()).isEqualTo(topicId(topic));
            assertThat(result.numPartitions()).isEqualTo(3);
        }
        assertThat(metadata(topic).partitions()).hasSize(3);
        assertThat(topicConfig(topic, "retention.ms").value()).isEqualTo("5000");
    }

    @Test
    void shouldRefuseATopicWhenItExistsOrItsConfigurationIsInvalid() throws Exception {
        assertThat(error(create(createTopic(1), "5000", 7).errorCode())).isEqualTo(ErrorCode.TOPIC_ALREADY_EXISTS);
        assertThat(error(create(newName(), "soon", 7).errorCode())).isEqualTo(ErrorCode.INVALID_CONFIG);
    }

    private CreateTopicsResponse.CreatableTopicResult create(String topic, String retentionMs, int version)
            throws Exception {
        CreateTopicsRequest request = new CreateTopicsRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                        .setName(topic)
                        .setNumPartitions(3)
                        .setReplicationFactor((short) 1)
                        .setConfigs(List.of(new CreateTopicsRequest.CreatableTopicConfig()
                                .setName("retention.ms")
                                .setValue(retentionMs)))));
        CreateTopicsResponse.CreatableTopicResult result =
                call(CreateTopicsResponse.class, request, version).topics().get(0);
        assertThat(result.name()).isEqualTo(topic);
        return result;
    }
}
