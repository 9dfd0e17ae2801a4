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

class DeleteTopicsHandlerTest extends HandlerTestBase {
    private static final int FIRST_VERSION_WITH_TOPIC_IDS = 6;

    @ServedVersions(ApiKey.DELETE_TOPICS)
    void shouldDeleteTheTopic(int version) throws Exception {
        String topic = createTopic(1);
        DeleteTopicsRequest request = version < FIRST_VERSION_WITH_TOPIC_IDS ? byName(topic) : byId(topicId(topic));

        DeleteTopicsResponse.DeletableTopicResult result = delete(request, version);

        assertThat(error(result.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(result.name()).isEqualTo(topic);
        assertThat(error(metadata(topic).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchTopic() throws Exception {
        assertThat(error(delete(byName(newName()), 1).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        assertThat(error(delete(byId(new Uuid(1, 2)), 6).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_ID);
    }

    @Test
    void shouldDeleteNothingWhenATopicIsNamedTwice() throws Exception {
        String topic = createTopic(1);
        Uuid id = topicId(topic);

        assertRefused(topic, byName(topic, topic), 5);
        assertRefused(topic, request(state(topic, Uuid.ZERO), state(topic, Uuid.ZERO)), 6);
        assertRefused(topic, request(state(null, id), state(null, id)), 6);
        assertRefused(topic, request(state(topic, Uuid.ZERO), state(null, id)), 6);
    }

    @Test
    void shouldDeleteNothingWhenATopicHasBothANameAndAnIdOrNeither() throws Exception {
        String topic = createTopic(1);
        String other = createTopic(1);

        assertRefused(topic, request(state(topic, topicId(topic))), 6);
        assertRefused(topic, request(state(topic, topicId(other))), 6);
        assertRefused(topic, request(state(null, Uuid.ZERO)), 6);
        assertThat(error(metadata(other).errorCode())).isEqualTo(ErrorCode.NONE);
    }

    private void assertRefused(String topic, DeleteTopicsRequest request, int version) throws Exception {
        assertThat(call(DeleteTopicsResponse.class, request, version).responses())
                .extracting(result -> error(result.errorCode()))
                .containsExactly(ErrorCode.INVALID_REQUEST);
        assertThat(error(metadata(topic).errorCode())).isEqualTo(ErrorCode.NONE);
    }

    private static DeleteTopicsRequest byName(String... topics) {
        return new DeleteTopicsRequest().setTimeoutMs(TIMEOUT_MS).setTopicNames(List.of(topics));
    }

    private static DeleteTopicsRequest byId(Uuid id) {
        return request(state(null, id));
    }

    private static DeleteTopicsRequest request(DeleteTopicsRequest.DeleteTopicState... topics) {
        return new DeleteTopicsRequest().setTimeoutMs(TIMEOUT_MS).setTopics(List.of(topics));
    }

    private static DeleteTopicsRequest.DeleteTopicState state(String name, Uuid id) {
        return new DeleteTopicsRequest.DeleteTopicState().setName(name).setTopicId(id);
    }

    private DeleteTopicsResponse.DeletableTopicResult delete(DeleteTopicsRequest request, int version)
            throws Exception {
        return call(DeleteTopicsResponse.class, request, version).responses().get(0);
    }
}
