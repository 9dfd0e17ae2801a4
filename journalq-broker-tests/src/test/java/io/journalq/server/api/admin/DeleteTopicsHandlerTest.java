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

    private static DeleteTopicsRequest byName(String topic) {
        return new DeleteTopicsRequest().setTimeoutMs(TIMEOUT_MS).setTopicNames(List.of(topic));
    }

    private static DeleteTopicsRequest byId(Uuid id) {
        return new DeleteTopicsRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setTopics(List.of(
                        new DeleteTopicsRequest.DeleteTopicState().setName(null).setTopicId(id)));
    }

    private DeleteTopicsResponse.DeletableTopicResult delete(DeleteTopicsRequest request, int version)
            throws Exception {
        return call(DeleteTopicsResponse.class, request, version).responses().get(0);
    }
}
