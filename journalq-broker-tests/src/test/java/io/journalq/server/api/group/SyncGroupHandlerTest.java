package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class SyncGroupHandlerTest extends HandlerTestBase {
    private static final int FIRST_VERSION_WITH_PROTOCOL = 5;

    @ServedVersions(ApiKey.SYNC_GROUP)
    void shouldReturnTheAssignmentThatTheLeaderMade(int version) throws Exception {
        SyncGroupResponse synced = sync(joinGroup(), version);

        assertThat(error(synced.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(synced.assignment()).isEqualTo(bytes("assignment"));
    }

    @Test
    void shouldRefuseAMemberWhenItIsUnknownOrItsGenerationIsOld() throws Exception {
        Member member = joinGroup();

        assertThat(error(sync(new Member(member.group(), "nobody", 1), 5).errorCode()))
                .isEqualTo(ErrorCode.UNKNOWN_MEMBER_ID);
        assertThat(error(sync(new Member(member.group(), member.id(), 0), 5).errorCode()))
                .isEqualTo(ErrorCode.ILLEGAL_GENERATION);
    }

    private SyncGroupResponse sync(Member member, int version) throws Exception {
        SyncGroupRequest request = new SyncGroupRequest()
                .setGroupId(member.group())
                .setMemberId(member.id())
                .setGenerationId(member.generation())
                .setAssignments(List.of(new SyncGroupRequest.SyncGroupRequestAssignment()
                        .setMemberId(member.id())
                        .setAssignment(bytes("assignment"))));
        if (version >= FIRST_VERSION_WITH_PROTOCOL) {
            request.setProtocolType("consumer").setProtocolName("range");
        }
        return call(SyncGroupResponse.class, request, version);
    }
}
