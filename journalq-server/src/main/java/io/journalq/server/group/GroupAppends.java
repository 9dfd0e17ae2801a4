package io.journalq.server.group;

import io.journalq.server.group.consumer.ClassicSnapshot;
import io.netty.buffer.ByteBufUtil;

/**
 * Keeps appends of groups below the size of a batch of the topic. If an append is refused, the coordinator drops all of its
 * groups and loads them again, so one large group would interrupt the others. Stateless.
 */
final class GroupAppends {
    /** Maximum size of the records of one append. A batch of the topic can have 64 MiB. */
    private static final long MAX_APPEND_BYTES = 48 << 20;

    /** Maximum size of a member's part of a record without its texts. */
    private static final int MEMBER_BYTES = 100;

    /** A converted member has up to four keys: those of its new records, or of its deleted ones and its new name. */
    private static final int KEYS = 4;

    /** A converted assignment is stored as target and in effect, with topic ids that can be longer than the names. */
    private static final int ASSIGNMENTS = 4;

    private GroupAppends() {}

    /** Whether the record of a classic group can be appended with assignments of this size. */
    static boolean fits(ClassicGroup group, long assignmentBytes) {
        long bytes = assignmentBytes;
        for (ClassicMember member : group.members()) {
            bytes += MEMBER_BYTES
                    + sizeOf(member.id)
                    + sizeOf(member.instanceId)
                    + sizeOf(member.origin.clientId())
                    + member.metadata(group.protocol).length;
        }
        return bytes <= MAX_APPEND_BYTES;
    }

    /** Whether the records of a group that is converted to another type can be appended together. */
    static boolean fits(ClassicSnapshot group) {
        long bytes = 0;
        for (ClassicSnapshot.Member member : group.members()) {
            bytes += KEYS * (MEMBER_BYTES + sizeOf(group.groupId()) + sizeOf(member.id()))
                    + sizeOf(member.instanceId())
                    + sizeOf(member.origin().clientId())
                    + (long) ASSIGNMENTS * member.assignment().length;
            for (ClassicSnapshot.Protocol protocol : member.protocols()) {
                bytes += sizeOf(protocol.name()) + protocol.metadata().length;
            }
        }
        return bytes <= MAX_APPEND_BYTES;
    }

    private static long sizeOf(String text) {
        return text == null ? 0 : ByteBufUtil.utf8Bytes(text);
    }
}
