package io.journalq.server.group;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.SyncGroupResponse;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;

/** Builds responses to members of classic groups. Stateless. */
final class ClassicResponses {
    private static final int NO_GENERATION = -1;
    private static final short FIRST_JOIN_VERSION_WITH_NULL_PROTOCOL = 7;

    private ClassicResponses() {}

    /** The response to a rejected JoinGroup request. */
    static JoinGroupResponse refusal(short version, ErrorCode error, String memberId) {
        return new JoinGroupResponse()
                .setErrorCode(error.code())
                .setGenerationId(NO_GENERATION)
                .setProtocolName(version < FIRST_JOIN_VERSION_WITH_NULL_PROTOCOL ? "" : null)
                .setLeader("")
                .setMemberId(memberId)
                .setMembers(List.of());
    }

    static JoinGroupResponse joined(
            ClassicGroup group, ClassicMember member, boolean tellsMembers, boolean skipsAssignment) {
        List<JoinGroupResponse.JoinGroupResponseMember> members = new ArrayList<>();
        if (tellsMembers) {
            for (ClassicMember each : group.members()) {
                members.add(new JoinGroupResponse.JoinGroupResponseMember()
                        .setMemberId(each.id)
                        .setGroupInstanceId(each.instanceId)
                        .setMetadata(Unpooled.wrappedBuffer(each.metadata(group.protocol))));
            }
        }
        return new JoinGroupResponse()
                .setGenerationId(group.generation)
                .setProtocolType(group.protocolType)
                .setProtocolName(group.protocol)
                .setLeader(group.leaderId)
                .setSkipAssignment(skipsAssignment)
                .setMemberId(member.id)
                .setMembers(members);
    }

    static SyncGroupResponse assigned(ClassicGroup group, ClassicMember member) {
        return new SyncGroupResponse()
                .setProtocolType(group.protocolType)
                .setProtocolName(group.protocol)
                .setAssignment(Unpooled.wrappedBuffer(member.assignment()));
    }

    /** The response to a rejected SyncGroup request. */
    static SyncGroupResponse refusal(ErrorCode error) {
        return new SyncGroupResponse().setErrorCode(error.code()).setAssignment(Unpooled.EMPTY_BUFFER);
    }
}
