package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class ListGroupsHandlerTest extends HandlerTestBase {
    private static final int FIRST_VERSION_WITH_STATE = 4;

    @ServedVersions(ApiKey.LIST_GROUPS)
    void shouldListTheGroup(int version) throws Exception {
        String group = joinStableGroup().group();

        ListGroupsResponse response = call(ListGroupsResponse.class, new ListGroupsRequest(), version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        ListGroupsResponse.ListedGroup listed = response.groups().stream()
                .filter(other -> other.groupId().equals(group))
                .findFirst()
                .orElseThrow();
        assertThat(listed.protocolType()).isEqualTo("consumer");
        if (version >= FIRST_VERSION_WITH_STATE) {
            assertThat(listed.groupState()).isEqualTo("Stable");
        }
    }

    @Test
    void shouldListNoGroupWhenNoneIsInTheState() throws Exception {
        joinStableGroup();
        ListGroupsRequest request = new ListGroupsRequest().setStatesFilter(List.of("NoSuchState"));

        ListGroupsResponse response = call(ListGroupsResponse.class, request, 5);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.groups()).isEmpty();
    }
}
