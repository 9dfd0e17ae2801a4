package io.journalq.client.admin;

import io.journalq.common.id.TopicPartition;
import java.util.List;

/**
 * A member of a group. Immutable.
 *
 * @param instanceId the {@code groupInstanceId} of a static member (KIP-345); null for other members
 * @param clientHost the host from which the member connects
 * @param partitions the assigned partitions, sorted; empty if the group is not a consumer group
 */
public record GroupMemberDescription(
        String memberId, String instanceId, String clientId, String clientHost, List<TopicPartition> partitions) {}
