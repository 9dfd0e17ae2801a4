package io.journalq.server.api.admin.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class IncrementalAlterConfigsHandlerTest extends HandlerTestBase {
    private static final byte TOPIC = 2;
    private static final byte SET = 0;
    private static final byte NO_SUCH_OPERATION = 9;

    @ServedVersions(ApiKey.INCREMENTAL_ALTER_CONFIGS)
    void shouldChangeOneSettingAndKeepTheOthers(int version) throws Exception {
        String topic = createTopic(1);
        setTopicConfig(topic, "max.message.bytes", "1234");

        assertThat(alter(topic, SET, version)).isEqualTo(ErrorCode.NONE);

        assertThat(topicConfig(topic, "retention.ms").value()).isEqualTo("5000");
        assertThat(topicConfig(topic, "max.message.bytes").value()).isEqualTo("1234");
    }

    @Test
    void shouldReportAnErrorWhenTheOperationOrTheTopicIsUnknown() throws Exception {
        assertThat(alter(createTopic(1), NO_SUCH_OPERATION, 1)).isEqualTo(ErrorCode.INVALID_REQUEST);
        assertThat(alter(newName(), SET, 1)).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        assertThat(alter("a b", SET, 1)).isEqualTo(ErrorCode.INVALID_TOPIC_EXCEPTION);
    }

    @Test
    void shouldChangeNothingWhenAResourceIsNamedTwice() throws Exception {
        String topic = createTopic(1);
        setTopicConfig(topic, "retention.ms", "6000");
        IncrementalAlterConfigsRequest request =
                new IncrementalAlterConfigsRequest().setResources(List.of(change(topic, SET), change(topic, SET)));

        assertThat(call(IncrementalAlterConfigsResponse.class, request, 1).responses())
                .extracting(response -> error(response.errorCode()))
                .containsExactly(ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST);
        assertThat(topicConfig(topic, "retention.ms").value()).isEqualTo("6000");
    }

    private static IncrementalAlterConfigsRequest.AlterConfigsResource change(String topic, byte operation) {
        return new IncrementalAlterConfigsRequest.AlterConfigsResource()
                .setResourceType(TOPIC)
                .setResourceName(topic)
                .setConfigs(List.of(new IncrementalAlterConfigsRequest.AlterableConfig()
                        .setName("retention.ms")
                        .setConfigOperation(operation)
                        .setValue("5000")));
    }

    private ErrorCode alter(String topic, byte operation, int version) throws Exception {
        IncrementalAlterConfigsRequest request =
                new IncrementalAlterConfigsRequest().setResources(List.of(change(topic, operation)));
        IncrementalAlterConfigsResponse.AlterConfigsResourceResponse response = call(
                        IncrementalAlterConfigsResponse.class, request, version)
                .responses()
                .get(0);
        assertThat(response.resourceName()).isEqualTo(topic);
        return error(response.errorCode());
    }
}
