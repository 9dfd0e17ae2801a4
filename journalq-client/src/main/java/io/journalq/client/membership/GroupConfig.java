package io.journalq.client.membership;

/**
 * A group member's settings. Immutable; made by {@link io.journalq.client.Consumer.Builder}, which documents each.
 *
 * @param instanceId null for a member without a fixed name
 * @param assignor null for the broker's choice
 */
public record GroupConfig(
        String groupId,
        String instanceId,
        String assignor,
        int maxPollIntervalMs,
        boolean autoCommit,
        int autoCommitIntervalMs) {}
