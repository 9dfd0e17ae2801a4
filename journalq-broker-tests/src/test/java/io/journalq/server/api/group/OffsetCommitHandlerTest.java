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

class OffsetCommitHandlerTest extends HandlerTestBase {
    private static final int FIRST_VERSION_WITH_TOPIC_IDS = 10;

    @ServedVersions(ApiKey.OFFSET_COMMIT)
    void shouldStoreTheOffset(int version) throws Exception {
        String group = newName();
        String topic = createTopic(1);
        Uuid id = version >= FIRST_VERSION_WITH_TOPIC_IDS ? topicId(topic) : null;

        assertThat(commit(group, topic, id, version)).isEqualTo(ErrorCode.NONE);

        OffsetFetchResponse.OffsetFetchResponsePartition committed = committedOffset(group, topic);
        assertThat(committed.committedOffset()).isEqualTo(7);
        assertThat(committed.metadata()).isEqualTo("note");
    }

    @Test
    void shouldRefuseAnOffsetWhenThereIsNoSuchTopic() throws Exception {
        assertThat(commit(newName(), newName(), null, 2)).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        assertThat(commit(newName(), "", new Uuid(1, 2), 10)).isEqualTo(ErrorCode.UNKNOWN_TOPIC_ID);
    }

    private ErrorCode commit(String group, String topic, Uuid id, int version) throws Exception {
        OffsetCommitRequest.OffsetCommitRequestTopic wanted = new OffsetCommitRequest.OffsetCommitRequestTopic()
                .setPartitions(List.of(new OffsetCommitRequest.OffsetCommitRequestPartition()
                        .setPartitionIndex(0)
                        .setCommittedOffset(7)
                        .setCommittedMetadata("note")));
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId(group)
                .setTopics(List.of(id == null ? wanted.setName(topic) : wanted.setTopicId(id)));
        return error(call(OffsetCommitResponse.class, request, version)
                .topics()
                .get(0)
                .partitions()
                .get(0)
                .errorCode());
    }
}
