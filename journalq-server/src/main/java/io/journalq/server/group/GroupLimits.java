package io.journalq.server.group;

/**
 * What bounds groups. Times in milliseconds.
 *
 * @param maxMembers most members of one group
 * @param minSessionTimeoutMs shortest session time-out that a member may ask for
 * @param maxSessionTimeoutMs longest
 * @param initialRebalanceDelayMs how long a new group waits for more members before its first rebalance
 * @param maxMetadataSizeBytes longest text with a committed offset
 * @param offsetRetentionMs how long offsets of a group without members are kept
 * @param offsetCheckIntervalMs how often that is checked
 */
public record GroupLimits(
        int maxMembers,
        int minSessionTimeoutMs,
        int maxSessionTimeoutMs,
        int initialRebalanceDelayMs,
        int maxMetadataSizeBytes,
        long offsetRetentionMs,
        long offsetCheckIntervalMs) {}
