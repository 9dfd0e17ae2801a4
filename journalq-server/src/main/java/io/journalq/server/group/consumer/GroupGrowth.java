package io.journalq.server.group.consumer;

import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.server.group.model.GroupSize;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Estimates by how much a group of the consumer protocol grows when a member joins or changes its subscription: by the
 * member's metadata and its largest possible assignment. Stateless.
 */
final class GroupGrowth {
    private GroupGrowth() {}

    /**
     * An upper bound in bytes; 0 for a heartbeat that does not change the subscription. The request has been checked.
     */
    static long of(ConsumerGroup group, String memberId, ConsumerGroupHeartbeatRequest request, Topics topics) {
        MemberMetadata before = group.member(memberId);
        long bytes = before == null ? GroupSize.MEMBER_BYTES + GroupSize.of(memberId) : 0;
        List<String> names = new ArrayList<>();
        if (request.subscribedTopicNames() != null) {
            names.addAll(request.subscribedTopicNames());
        }
        String regex = request.subscribedTopicRegex();
        if (regex != null && !regex.isEmpty()) {
            names.addAll(group.topicNamesByPattern()
                    .getOrDefault(regex, SubscriptionPattern.compile(regex).matches(topics.all())));
        }
        if (before != null) {
            names.removeAll(before.topicNames());
            names.removeAll(namesByPattern(group, before.topicRegex()));
        }
        return bytes + GroupSize.of(names) + assignable(names, topics);
    }

    /**
     * The same for a member of the classic protocol.
     *
     * @param before the member, or the one that it replaces; null if it is new
     */
    static long of(String memberId, MemberMetadata before, MemberMetadata after, Topics topics) {
        long bytes = after.sizeBytes();
        List<String> names = new ArrayList<>(after.topicNames());
        if (before == null) {
            bytes += GroupSize.MEMBER_BYTES + GroupSize.of(memberId);
        } else {
            bytes -= before.sizeBytes();
            names.removeAll(before.topicNames());
        }
        return bytes + assignable(names, topics);
    }

    /** The largest possible assignment. */
    private static long assignable(List<String> names, Topics topics) {
        long bytes = 0;
        for (String name : names) {
            Topics.Topic topic = topics.byName(name);
            if (topic != null) {
                bytes += GroupSize.ASSIGNED_TOPIC_BYTES
                        + (long) topic.partitionCount() * GroupSize.ASSIGNED_PARTITION_BYTES;
            }
        }
        return bytes;
    }

    private static Collection<String> namesByPattern(ConsumerGroup group, String regex) {
        return regex == null
                ? List.of()
                : group.topicNamesByPattern().getOrDefault(regex, java.util.Collections.emptySortedSet());
    }
}
