package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class LeaveGroupHandlerTest extends HandlerTestBase {
    private static final int FIRST_BATCHED_VERSION = 3;

    @ServedVersions(ApiKey.LEAVE_GROUP)
    void shouldRemoveTheMember(int version) throws Exception {
        Member member = joinStableGroup();

        assertThat(leave(member, version)).isEqualTo(ErrorCode.NONE);

        assertThat(heartbeat(member)).isEqualTo(ErrorCode.UNKNOWN_MEMBER_ID);
    }

    @Test
    void shouldReportAnErrorWhenTheMemberIsUnknown() throws Exception {
        Member nobody = new Member(joinStableGroup().group(), "nobody", 1);

        assertThat(leave(nobody, 0)).isEqualTo(ErrorCode.UNKNOWN_MEMBER_ID);
        assertThat(leave(nobody, 5)).isEqualTo(ErrorCode.UNKNOWN_MEMBER_ID);
    }

    private ErrorCode leave(Member member, int version) throws Exception {
        LeaveGroupRequest request = new LeaveGroupRequest().setGroupId(member.group());
        if (version < FIRST_BATCHED_VERSION) {
            request.setMemberId(member.id());
        } else {
            request.setMembers(List.of(new LeaveGroupRequest.MemberIdentity().setMemberId(member.id())));
        }
        LeaveGroupResponse response = call(LeaveGroupResponse.class, request, version);
        if (version < FIRST_BATCHED_VERSION) {
            return error(response.errorCode());
        }
        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.members().get(0).memberId()).isEqualTo(member.id());
        return error(response.members().get(0).errorCode());
    }
}
