package io.journalq.server.group;

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
        long offsetCheckIntervalMs) {}
