package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class OffsetDeleteHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.OFFSET_DELETE)
    void shouldForgetTheOffset(int version) throws Exception {
        String group = newName();
        String topic = createTopic(1);
        commitOffset(group, topic, 7);

        OffsetDeleteResponse response = delete(group, topic, version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(error(response.topics().get(0).partitions().get(0).errorCode()))
                .isEqualTo(ErrorCode.NONE);
        assertThat(committedOffset(group, topic).committedOffset()).isEqualTo(-1);
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchGroup() throws Exception {
        assertThat(error(delete(newName(), newName(), 0).errorCode())).isEqualTo(ErrorCode.GROUP_ID_NOT_FOUND);
    }

    private OffsetDeleteResponse delete(String group, String topic, int version) throws Exception {
        OffsetDeleteRequest request = new OffsetDeleteRequest()
                .setGroupId(group)
                .setTopics(List.of(new OffsetDeleteRequest.OffsetDeleteRequestTopic()
                        .setName(topic)
                        .setPartitions(
                                List.of(new OffsetDeleteRequest.OffsetDeleteRequestPartition().setPartitionIndex(0)))));
        return call(OffsetDeleteResponse.class, request, version);
    }
}
