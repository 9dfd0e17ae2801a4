package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class OffsetFetchHandlerTest extends HandlerTestBase {
    private static final int FIRST_BATCHED_VERSION = 8;

    @ServedVersions(ApiKey.OFFSET_FETCH)
    void shouldReturnTheCommittedOffset(int version) throws Exception {
        String group = newName();
        String topic = createTopic(1);
        commitOffset(group, topic, 7);

        assertThat(fetch(group, topic, topicId(topic), version)).isEqualTo(7);
        assertThat(fetch(newName(), topic, topicId(topic), version))
                .as("nothing is committed")
                .isEqualTo(-1);
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoTopicOfTheId() throws Exception {
        OffsetFetchResponse.OffsetFetchResponseGroup response = call(
                        OffsetFetchResponse.class, batched(newName(), new Uuid(1, 2)), 10)
                .groups()
                .get(0);

        assertThat(error(response.topics().get(0).partitions().get(0).errorCode()))
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_ID);
    }

    @Test
    void shouldReturnAllOffsetsOfAGroupOnceWhenItIsNamedRepeatedly() throws Exception {
        String group = newName();
        String topic = createTopic(1);
        commitOffset(group, topic, 7);
        OffsetFetchRequest.OffsetFetchRequestGroup all = new OffsetFetchRequest.OffsetFetchRequestGroup()
                .setGroupId(group)
                .setTopics(null);

        OffsetFetchResponse response =
                call(OffsetFetchResponse.class, new OffsetFetchRequest().setGroups(List.of(all, all)), 9);

        assertThat(response.groups()).singleElement().satisfies(only -> assertThat(only.topics())
                .hasSize(1));
    }

    private long fetch(String group, String topic, Uuid id, int version) throws Exception {
        if (version >= FIRST_BATCHED_VERSION) {
            OffsetFetchResponse response = call(OffsetFetchResponse.class, batched(group, id), version);
            assertThat(response.groups().get(0).groupId()).isEqualTo(group);
            OffsetFetchResponse.OffsetFetchResponsePartitions partition =
                    response.groups().get(0).topics().get(0).partitions().get(0);
            assertThat(error(partition.errorCode())).isEqualTo(ErrorCode.NONE);
            return partition.committedOffset();
        }
        OffsetFetchRequest request = new OffsetFetchRequest()
                .setGroupId(group)
                .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopic()
                        .setName(topic)
                        .setPartitionIndexes(List.of(0))));
        OffsetFetchResponse response = call(OffsetFetchResponse.class, request, version);
        OffsetFetchResponse.OffsetFetchResponsePartition partition =
                response.topics().get(0).partitions().get(0);
        assertThat(error(partition.errorCode())).isEqualTo(ErrorCode.NONE);
        return partition.committedOffset();
    }

    private static OffsetFetchRequest batched(String group, Uuid id) {
        return new OffsetFetchRequest()
                .setGroups(List.of(new OffsetFetchRequest.OffsetFetchRequestGroup()
                        .setGroupId(group)
                        .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopics()
                                .setTopicId(id)
                                .setPartitionIndexes(List.of(0))))));
    }
}
