package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class JoinGroupHandlerTest extends HandlerTestBase {
    private static final int FIRST_VERSION_WITH_REQUIRED_ID = 4;

    @ServedVersions(ApiKey.JOIN_GROUP)
    void shouldMakeTheFirstMemberTheLeader(int version) throws Exception {
        String group = newName();
        JoinGroupResponse joined = join(group, "", TIMEOUT_MS, version);
        if (version >= FIRST_VERSION_WITH_REQUIRED_ID) {
            assertThat(error(joined.errorCode())).isEqualTo(ErrorCode.MEMBER_ID_REQUIRED);
            joined = join(group, joined.memberId(), TIMEOUT_MS, version);
        }

        assertThat(error(joined.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(joined.generationId()).isEqualTo(1);
        assertThat(joined.protocolName()).isEqualTo("range");
        assertThat(joined.leader()).isNotEmpty().isEqualTo(joined.memberId());
        assertThat(joined.members()).singleElement().satisfies(member -> assertThat(member.metadata())
                .isEqualTo(bytes("metadata")));
    }

    @Test
    void shouldRefuseAMemberWhenItsSessionTimeoutIsTooShort() throws Exception {
        assertThat(error(join(newName(), "", 1, 9).errorCode())).isEqualTo(ErrorCode.INVALID_SESSION_TIMEOUT);
    }

    private JoinGroupResponse join(String group, String memberId, int sessionTimeoutMs, int version) throws Exception {
        JoinGroupRequest request = new JoinGroupRequest()
                .setGroupId(group)
                .setMemberId(memberId)
                .setSessionTimeoutMs(sessionTimeoutMs)
                .setProtocolType("consumer")
                .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                        .setName("range")
                        .setMetadata(bytes("metadata"))));
        if (version > 0) {
            request.setRebalanceTimeoutMs(TIMEOUT_MS);
        }
        return call(JoinGroupResponse.class, request, version);
    }
}
