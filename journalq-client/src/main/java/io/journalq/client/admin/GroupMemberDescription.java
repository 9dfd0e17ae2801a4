package io.journalq.client.admin;

import io.journalq.common.id.TopicPartition;
import java.util.List;

/**
 * One member of a group. Immutable.
 *
 * @param instanceId the fixed name of a static member (KIP-345); null for others
 * @param clientHost where it connects from
 * @param partitions what it reads, in order; empty for a member whose protocol is not that of consumers
 */
public record GroupMemberDescription(
        String memberId, String instanceId, String clientId, String clientHost, List<TopicPartition> partitions) {}
