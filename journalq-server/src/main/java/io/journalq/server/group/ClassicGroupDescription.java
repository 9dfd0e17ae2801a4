package io.journalq.server.group;

import io.journalq.common.protocol.message.DescribeGroupsResponse.DescribedGroup;
import io.journalq.common.protocol.message.DescribeGroupsResponse.DescribedGroupMember;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;

/** Describes a classic group for DescribeGroups. */
final class ClassicGroupDescription {
    private ClassicGroupDescription() {}

    static DescribedGroup of(ClassicGroup group) {
        boolean agreed = group.state == ClassicGroup.State.STABLE;
        List<DescribedGroupMember> members = new ArrayList<>();
        for (ClassicMember member : group.members()) {
            members.add(new DescribedGroupMember()
                    .setMemberId(member.id)
                    .setGroupInstanceId(member.instanceId)
                    .setClientId(member.origin.clientId())
                    .setClientHost(member.origin.clientHost())
                    .setMemberMetadata(
                            Unpooled.wrappedBuffer(agreed ? member.metadata(group.protocol) : ClassicMember.NOTHING))
                    .setMemberAssignment(Unpooled.wrappedBuffer(agreed ? member.assignment() : ClassicMember.NOTHING)));
        }
        return new DescribedGroup()
                .setGroupId(group.id())
                .setGroupState(group.stateName())
                .setProtocolType(group.protocolType())
                .setProtocolData(agreed ? group.protocol : "")
                .setMembers(members);
    }
}
