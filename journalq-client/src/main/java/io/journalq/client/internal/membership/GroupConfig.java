package io.journalq.client.internal.membership;

/**
 * The settings of a member of a group. Immutable. {@link io.journalq.client.Consumer.Builder} creates it and documents
 * each setting.
 *
 * @param instanceId null if the member is not static
 * @param assignor null to let the broker choose
 */
public record GroupConfig(
        String groupId,
        String instanceId,
        String assignor,
        int maxPollIntervalMs,
        boolean autoCommit,
        int autoCommitIntervalMs) {}
