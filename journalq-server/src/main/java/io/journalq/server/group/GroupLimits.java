package io.journalq.server.group;

import io.journalq.server.memory.MemoryAccount;

/**
 * Limits of groups. Times in milliseconds.
 *
 * @param maxMembers maximum number of members of one group
 * @param minSessionTimeoutMs shortest session timeout that a member may request
 * @param maxSessionTimeoutMs longest session timeout that a member may request
 * @param initialRebalanceDelayMs how long a new group waits for more members before its first rebalance
 * @param maxMetadataSizeBytes maximum size of the metadata of a committed offset
 * @param offsetRetentionMs how long offsets of a group without members are kept
 * @param offsetCheckIntervalMs how often the retention of offsets is checked
 */
public record GroupLimits(
        int maxMembers,
        int minSessionTimeoutMs,
        int maxSessionTimeoutMs,
        int initialRebalanceDelayMs,
        int maxMetadataSizeBytes,
        long offsetRetentionMs,
        long offsetCheckIntervalMs) {

    /**
     * The total number of groups of all machines of a broker, for the limit on it. Each machine reports its own number.
     * A machine that replaces another reports it again.
     */
    public interface GroupCount {
        /** For a machine outside of a broker. */
        GroupCount UNLIMITED = new GroupCount() {
            @Override
            public void set(int groups) {
                // There is no limit.
            }

            @Override
            public boolean isFull() {
                return false;
            }
        };

        /** Sets the number of groups of this machine. */
        void set(int groups);

        /** Whether the maximum number of groups is reached. */
        boolean isFull();
    }

    /**
     * The memory accounts of a machine.
     *
     * @param ofGroups for groups and their members
     * @param ofOffsets for committed offsets
     */
    public record GroupMemory(MemoryAccount ofGroups, MemoryAccount ofOffsets) {
        /** For a machine outside of a broker. */
        public static final GroupMemory UNBOUNDED = new GroupMemory(MemoryAccount.UNBOUNDED, MemoryAccount.UNBOUNDED);
    }
}
