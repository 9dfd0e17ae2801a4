package io.journalq.client.group;

import static io.journalq.client.internal.check.Arguments.notNull;

/**
 * The identity of a consumer in its group. With it, a transaction can commit the offsets of the consumer, and the
 * broker rejects them if the consumer is no longer a member (KIP-447). Immutable.
 *
 * @param memberId the id of the member, or empty if the consumer is not a member
 * @param epoch the epoch of the member, or -1 if the consumer is not a member
 * @param instanceId the {@code groupInstanceId}, or null if it has none
 */
public record GroupMember(String groupId, String memberId, int epoch, String instanceId) {
    private static final int NO_EPOCH = -1;

    public GroupMember {
        notNull(groupId, "groupId");
        notNull(memberId, "memberId");
    }

    /** Returns the identity of a client that commits for a group without being its member. */
    public static GroupMember outsider(String groupId) {
        return new GroupMember(groupId, "", NO_EPOCH, null);
    }
}
