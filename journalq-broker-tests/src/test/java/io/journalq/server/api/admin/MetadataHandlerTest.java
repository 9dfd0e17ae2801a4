package io.journalq.server.api.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MetadataHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.METADATA)
    void shouldDescribeTheBrokerAndTheTopic(int version) throws Exception {
        String topic = createTopic(2);

        MetadataResponse response = ask(topic, version);

        assertThat(response.brokers()).singleElement().satisfies(only -> {
            assertThat(only.nodeId()).isZero();
            assertThat(only.port()).isEqualTo(broker.port());
        });
        MetadataResponse.MetadataResponseTopic described = response.topics().get(0);
        assertThat(error(described.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(described.name()).isEqualTo(topic);
        assertThat(described.partitions()).hasSize(2).allSatisfy(partition -> {
            assertThat(partition.leaderId()).isZero();
            assertThat(partition.isrNodes()).containsExactly(0);
        });
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchTopic() throws Exception {
        assertThat(error(ask(newName(), 13).topics().get(0).errorCode()))
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 11, 12, 13})
    void shouldReportAnErrorWhenThereIsNoTopicOfTheId(int version) throws Exception {
        MetadataRequest request = new MetadataRequest()
                .setTopics(List.of(new MetadataRequest.MetadataRequestTopic()
                        .setName(version < 12 ? "" : null)
                        .setTopicId(new Uuid(1, 2))));

        MetadataResponse response = call(MetadataResponse.class, request, version);

        assertThat(response.topics()).singleElement().satisfies(unknown -> {
            assertThat(error(unknown.errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_ID);
            assertThat(unknown.topicId()).isEqualTo(new Uuid(1, 2));
        });
    }

    @Test
    void shouldDescribeATopicOnceWhenItIsNamedRepeatedly() throws Exception {
        String topic = createTopic(2);
        Uuid id = topicId(topic);
        List<MetadataRequest.MetadataRequestTopic> named = List.of(
                new MetadataRequest.MetadataRequestTopic().setName(topic),
                new MetadataRequest.MetadataRequestTopic().setName(topic),
                new MetadataRequest.MetadataRequestTopic().setName("a").setTopicId(id),
                new MetadataRequest.MetadataRequestTopic().setName("b").setTopicId(id));

        MetadataResponse byName =
                call(MetadataResponse.class, new MetadataRequest().setTopics(named.subList(0, 2)), 13);
        MetadataResponse byId = call(MetadataResponse.class, new MetadataRequest().setTopics(named.subList(2, 4)), 13);

        assertThat(byName.topics()).singleElement().satisfies(one -> assertThat(one.name())
                .isEqualTo(topic));
        assertThat(byId.topics()).singleElement().satisfies(one -> assertThat(one.topicId())
                .isEqualTo(id));
    }

    private MetadataResponse ask(String topic, int version) throws Exception {
        MetadataRequest request =
                new MetadataRequest().setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName(topic)));
        if (version >= 4) {
            request.setAllowAutoTopicCreation(false);
        }
        return call(MetadataResponse.class, request, version);
    }
}
