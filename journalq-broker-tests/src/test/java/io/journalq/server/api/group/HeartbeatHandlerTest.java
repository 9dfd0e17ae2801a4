package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import org.junit.jupiter.api.Test;

class HeartbeatHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.HEARTBEAT)
    void shouldKeepAMemberInItsGroup(int version) throws Exception {
        assertThat(beat(joinStableGroup(), version)).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldTellAMemberWhenItIsUnknownOrItsGenerationIsOld() throws Exception {
        Member member = joinStableGroup();

        assertThat(beat(new Member(member.group(), "nobody", 1), 4)).isEqualTo(ErrorCode.UNKNOWN_MEMBER_ID);
        assertThat(beat(new Member(member.group(), member.id(), 0), 4)).isEqualTo(ErrorCode.ILLEGAL_GENERATION);
    }

    private ErrorCode beat(Member member, int version) throws Exception {
        HeartbeatRequest request = new HeartbeatRequest()
                .setGroupId(member.group())
                .setMemberId(member.id())
                .setGenerationId(member.generation());
        return error(call(HeartbeatResponse.class, request, version).errorCode());
    }
}
