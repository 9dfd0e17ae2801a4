package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class DescribeGroupsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.DESCRIBE_GROUPS)
    void shouldDescribeTheGroupWithItsMember(int version) throws Exception {
        Member member = joinStableGroup();

        DescribeGroupsResponse.DescribedGroup described = describe(member.group(), version);

        assertThat(error(described.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(described.groupState()).isEqualTo("Stable");
        assertThat(described.protocolData()).isEqualTo("range");
        assertThat(described.members()).singleElement().satisfies(only -> {
            assertThat(only.memberId()).isEqualTo(member.id());
            assertThat(only.memberAssignment()).isEqualTo(bytes("assignment"));
        });
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchGroup() throws Exception {
        assertThat(error(describe(newName(), 6).errorCode())).isEqualTo(ErrorCode.GROUP_ID_NOT_FOUND);
        assertThat(describe(newName(), 0).groupState()).isEqualTo("Dead");
    }

    @Test
    void shouldDescribeAGroupOnceWhenItIsNamedRepeatedly() throws Exception {
        String group = joinStableGroup().group();
        String other = newName();

        DescribeGroupsResponse response = call(
                DescribeGroupsResponse.class, new DescribeGroupsRequest().setGroups(List.of(group, other, group)), 6);

        assertThat(response.groups())
                .extracting(DescribeGroupsResponse.DescribedGroup::groupId)
                .containsExactly(group, other);
    }

    private DescribeGroupsResponse.DescribedGroup describe(String group, int version) throws Exception {
        DescribeGroupsRequest request = new DescribeGroupsRequest().setGroups(List.of(group));
        DescribeGroupsResponse.DescribedGroup described =
                call(DescribeGroupsResponse.class, request, version).groups().get(0);
        assertThat(described.groupId()).isEqualTo(group);
        return described;
    }
}
