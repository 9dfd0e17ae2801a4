package io.journalq.server.api.admin.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class DescribeConfigsHandlerTest extends HandlerTestBase {
    private static final byte TOPIC = 2;
    private static final byte SET_ON_TOPIC = 1;

    @ServedVersions(ApiKey.DESCRIBE_CONFIGS)
    void shouldSayWhatTheSettingIsAndWhatSetIt(int version) throws Exception {
        String topic = createTopic(1);
        setTopicConfig(topic, "retention.ms", "5000");

        DescribeConfigsResponse.DescribeConfigsResult result = describe(topic, version);

        assertThat(error(result.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(result.configs()).singleElement().satisfies(config -> {
            assertThat(config.name()).isEqualTo("retention.ms");
            assertThat(config.value()).isEqualTo("5000");
            assertThat(config.configSource()).isEqualTo(SET_ON_TOPIC);
        });
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchTopic() throws Exception {
        assertThat(error(describe(newName(), 4).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        assertThat(error(describe("a b", 4).errorCode())).isEqualTo(ErrorCode.INVALID_TOPIC_EXCEPTION);
    }

    @Test
    void shouldDescribeAResourceOnceWhenItIsNamedRepeatedly() throws Exception {
        String topic = createTopic(1);
        DescribeConfigsRequest.DescribeConfigsResource all = new DescribeConfigsRequest.DescribeConfigsResource()
                .setResourceType(TOPIC)
                .setResourceName(topic)
                .setConfigurationKeys(null);
        DescribeConfigsRequest.DescribeConfigsResource one = new DescribeConfigsRequest.DescribeConfigsResource()
                .setResourceType(TOPIC)
                .setResourceName(topic)
                .setConfigurationKeys(List.of("retention.ms"));

        DescribeConfigsResponse response = call(
                DescribeConfigsResponse.class, new DescribeConfigsRequest().setResources(List.of(all, one, all)), 4);

        assertThat(response.results()).hasSize(2);
        assertThat(response.results().get(0).configs()).hasSizeGreaterThan(1);
        assertThat(response.results().get(1).configs()).hasSize(1);
    }

    @Test
    void shouldRespondSoonWhenNamesHaveTheSameHash() throws Exception {
        DescribeConfigsRequest request = new DescribeConfigsRequest()
                .setResources(namesWithOneHash().stream()
                        .map(name -> new DescribeConfigsRequest.DescribeConfigsResource()
                                .setResourceType(TOPIC)
                                .setResourceName(name)
                                .setConfigurationKeys(null))
                        .toList());

        assertThat(call(DescribeConfigsResponse.class, request, 4).results())
                .hasSize(request.resources().size());
    }

    private DescribeConfigsResponse.DescribeConfigsResult describe(String topic, int version) throws Exception {
        DescribeConfigsRequest request = new DescribeConfigsRequest()
                .setResources(List.of(new DescribeConfigsRequest.DescribeConfigsResource()
                        .setResourceType(TOPIC)
                        .setResourceName(topic)
                        .setConfigurationKeys(List.of("retention.ms"))));
        DescribeConfigsResponse.DescribeConfigsResult result =
                call(DescribeConfigsResponse.class, request, version).results().get(0);
        assertThat(result.resourceName()).isEqualTo(topic);
        return result;
    }
}
