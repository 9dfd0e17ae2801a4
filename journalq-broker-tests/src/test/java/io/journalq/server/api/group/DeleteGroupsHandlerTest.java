package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeleteGroupsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.DELETE_GROUPS)
    void shouldDeleteAnEmptyGroupWithItsOffsets(int version) throws Exception {
        String group = newName();
        String topic = createTopic(1);
        commitOffset(group, topic, 7);

        assertThat(delete(group, version)).isEqualTo(ErrorCode.NONE);

        assertThat(committedOffset(group, topic).committedOffset()).isEqualTo(-1);
    }

    @Test
    void shouldRefuseToDeleteAGroupWhenItHasMembersOrDoesNotExist() throws Exception {
        assertThat(delete(joinStableGroup().group(), 2)).isEqualTo(ErrorCode.NON_EMPTY_GROUP);
        assertThat(delete(newName(), 2)).isEqualTo(ErrorCode.GROUP_ID_NOT_FOUND);
    }

    private ErrorCode delete(String group, int version) throws Exception {
        DeleteGroupsRequest request = new DeleteGroupsRequest().setGroupsNames(List.of(group));
        DeleteGroupsResponse.DeletableGroupResult result =
                call(DeleteGroupsResponse.class, request, version).results().get(0);
        assertThat(result.groupId()).isEqualTo(group);
        return error(result.errorCode());
    }
}
