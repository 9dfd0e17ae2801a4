package io.journalq.server.api.admin.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class AlterConfigsHandlerTest extends HandlerTestBase {
    private static final byte TOPIC = 2;

    @ServedVersions(ApiKey.ALTER_CONFIGS)
    void shouldReplaceAllSettingsOfTheTopic(int version) throws Exception {
        String topic = createTopic(1);
        setTopicConfig(topic, "max.message.bytes", "1234");

        assertThat(alter(topic, "5000", version)).isEqualTo(ErrorCode.NONE);

        assertThat(topicConfig(topic, "retention.ms").value()).isEqualTo("5000");
        assertThat(topicConfig(topic, "max.message.bytes").value()).isNotEqualTo("1234");
    }

    @Test
    void shouldChangeNothingWhenTheValueIsInvalid() throws Exception {
        String topic = createTopic(1);
        setTopicConfig(topic, "retention.ms", "5000");

        assertThat(alter(topic, "soon", 2)).isEqualTo(ErrorCode.INVALID_CONFIG);

        assertThat(topicConfig(topic, "retention.ms").value()).isEqualTo("5000");
    }

    @Test
    void shouldRespondSoonWhenNamesHaveTheSameHash() throws Exception {
        AlterConfigsRequest request = new AlterConfigsRequest()
                .setResources(namesWithOneHash().stream()
                        .map(name -> new AlterConfigsRequest.AlterConfigsResource()
                                .setResourceType(TOPIC)
                                .setResourceName(name)
                                .setConfigs(List.of()))
                        .toList());

        assertThat(call(AlterConfigsResponse.class, request, 2).responses())
                .hasSize(request.resources().size());
    }

    private ErrorCode alter(String topic, String retentionMs, int version) throws Exception {
        AlterConfigsRequest request = new AlterConfigsRequest()
                .setResources(List.of(new AlterConfigsRequest.AlterConfigsResource()
                        .setResourceType(TOPIC)
                        .setResourceName(topic)
                        .setConfigs(List.of(new AlterConfigsRequest.AlterableConfig()
                                .setName("retention.ms")
                                .setValue(retentionMs)))));
        AlterConfigsResponse.AlterConfigsResourceResponse response =
                call(AlterConfigsResponse.class, request, version).responses().get(0);
        assertThat(response.resourceName()).isEqualTo(topic);
        assertThat(response.resourceType()).isEqualTo(TOPIC);
        return error(response.errorCode());
    }
}
