package io.journalq.client.internal.membership;

import io.journalq.client.group.CommittedOffset;
import io.journalq.common.id.TopicPartition;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The settings of a member of a group. Immutable. {@link io.journalq.client.Consumer.Builder} creates it and documents
 * each setting.
 *
 * @param instanceId null if the member is not static
 * @param assignor null to let the broker choose
 * @param onCommitted is called on the event loop with offsets that the coordinator has stored; does not throw
 */
public record GroupConfig(
        String groupId,
        String instanceId,
        String assignor,
        int maxPollIntervalMs,
        boolean autoCommit,
        int autoCommitIntervalMs,
        Consumer<Map<TopicPartition, CommittedOffset>> onCommitted) {}
