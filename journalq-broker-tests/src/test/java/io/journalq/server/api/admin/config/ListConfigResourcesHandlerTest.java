package io.journalq.server.api.admin.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class ListConfigResourcesHandlerTest extends HandlerTestBase {
    private static final byte TOPIC = 2;
    private static final byte CLIENT_METRICS = 16;
    private static final byte NO_SUCH_TYPE = 99;

    @ServedVersions(ApiKey.LIST_CONFIG_RESOURCES)
    void shouldListResourcesOfTheTypeThatTheVersionKnows(int version) throws Exception {
        String topic = createTopic(1);
        String subscription = newName();
        subscribe(subscription);

        ListConfigResourcesResponse response =
                call(ListConfigResourcesResponse.class, new ListConfigResourcesRequest(), version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        List<String> names = response.configResources().stream()
                .map(ListConfigResourcesResponse.ConfigResource::resourceName)
                .toList();
        assertThat(names).contains(subscription);
        if (version == 0) {
            assertThat(names).as("client metrics only").doesNotContain(topic);
        } else {
            assertThat(names).contains(topic, "0");
        }
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchType() throws Exception {
        ListConfigResourcesRequest request =
                new ListConfigResourcesRequest().setResourceTypes(List.of(TOPIC, NO_SUCH_TYPE));

        assertThat(error(call(ListConfigResourcesResponse.class, request, 1).errorCode()))
                .isEqualTo(ErrorCode.UNSUPPORTED_VERSION);
    }

    /** A subscription that selects no client. */
    private void subscribe(String name) throws Exception {
        IncrementalAlterConfigsRequest request = new IncrementalAlterConfigsRequest()
                .setResources(List.of(new IncrementalAlterConfigsRequest.AlterConfigsResource()
                        .setResourceType(CLIENT_METRICS)
                        .setResourceName(name)
                        .setConfigs(List.of(new IncrementalAlterConfigsRequest.AlterableConfig()
                                .setName("match")
                                .setValue("client_id=" + name)))));
        assertThat(error(call(IncrementalAlterConfigsResponse.class, request, 1)
                        .responses()
                        .get(0)
                        .errorCode()))
                .isEqualTo(ErrorCode.NONE);
    }
}
