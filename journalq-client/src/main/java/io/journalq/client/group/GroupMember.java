package io.journalq.client.group;

/**
 * A consumer as its group knows it, for a transaction that commits its offsets: the broker refuses those of a consumer
 * that is no member any more (KIP-447). Immutable.
 *
 * @param memberId empty when it is no member
 * @param epoch of the member in the group; -1 when it is no member
 * @param instanceId its fixed name; null without one
 */
public record GroupMember(String groupId, String memberId, int epoch, String instanceId) {
    private static final int NO_EPOCH = -1;

    /** One who commits for a group without being a member. */
    public static GroupMember outsider(String groupId) {
        return new GroupMember(groupId, "", NO_EPOCH, null);
    }
}
