package io.journalq.client.internal.membership;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Builds heartbeats. A heartbeat contains all fields when the member joins or a response was lost, otherwise only those
 * that have changed. Belongs to the event loop.
 */
final class Heartbeat {
    static final int JOIN_EPOCH = 0;
    private static final int LEAVE_EPOCH = -1;
    /** A static member leaves temporarily: the group keeps its partitions for it until the session timeout. */
    private static final int STATIC_LEAVE_EPOCH = -2;

    private static final short FIRST_VERSION_WITH_PATTERNS = 1;

    private final GroupConfig config;
    private Subscriber.Subscription subscription;
    private Set<MembershipState.TopicIdPartition> owned = Set.of();
    private boolean sendAll = true;
    private boolean sendSubscription;
    private boolean sendOwned;

    Heartbeat(GroupConfig config) {
        this.config = config;
    }

    void subscribe(Subscriber.Subscription wanted) {
        subscription = wanted;
        sendSubscription = true;
    }

    void own(Set<MembershipState.TopicIdPartition> partitions) {
        owned = partitions;
        sendOwned = true;
    }

    /** Makes the next heartbeat contain all fields, because the last one may not have arrived. */
    void forgetSent() {
        sendAll = true;
    }

    /** Returns the next heartbeat, and assumes that it arrives. */
    ConsumerGroupHeartbeatRequest next(String memberId, int epoch, short version) {
        ConsumerGroupHeartbeatRequest request = plain(memberId, epoch);
        boolean all = sendAll || epoch == JOIN_EPOCH;
        if (all) {
            request.setRebalanceTimeoutMs(config.maxPollIntervalMs()).setServerAssignor(config.assignor());
        }
        if (all || sendSubscription) {
            request.setSubscribedTopicNames(subscription.topics());
            if (subscription.pattern() != null) {
                request.setSubscribedTopicRegex(subscription.pattern().expression());
            } else if (version >= FIRST_VERSION_WITH_PATTERNS) {
                request.setSubscribedTopicRegex("");
            }
        }
        if (epoch == JOIN_EPOCH) {
            request.setTopicPartitions(List.of());
        } else if (all || sendOwned) {
            request.setTopicPartitions(topicPartitions());
        }
        sendAll = false;
        sendSubscription = false;
        sendOwned = false;
        return request;
    }

    ConsumerGroupHeartbeatRequest leave(String memberId) {
        return plain(memberId, config.instanceId() == null ? LEAVE_EPOCH : STATIC_LEAVE_EPOCH);
    }

    /** Returns the assignment, or null if the response contains none. */
    static Set<MembershipState.TopicIdPartition> target(ConsumerGroupHeartbeatResponse response) {
        if (response.assignment() == null) {
            return null;
        }
        Set<MembershipState.TopicIdPartition> target = new LinkedHashSet<>();
        for (ConsumerGroupHeartbeatResponse.TopicPartitions topic :
                response.assignment().topicPartitions()) {
            topic.partitions()
                    .forEach(partition -> target.add(new MembershipState.TopicIdPartition(topic.topicId(), partition)));
        }
        return target;
    }

    private ConsumerGroupHeartbeatRequest plain(String memberId, int epoch) {
        return new ConsumerGroupHeartbeatRequest()
                .setGroupId(config.groupId())
                .setInstanceId(config.instanceId())
                .setMemberId(memberId)
                .setMemberEpoch(epoch);
    }

    private List<ConsumerGroupHeartbeatRequest.TopicPartitions> topicPartitions() {
        Map<Uuid, List<Integer>> byTopic = new LinkedHashMap<>();
        owned.forEach(partition -> byTopic.computeIfAbsent(partition.topicId(), id -> new ArrayList<>())
                .add(partition.partition()));
        List<ConsumerGroupHeartbeatRequest.TopicPartitions> topics = new ArrayList<>();
        byTopic.forEach((id, partitions) -> topics.add(new ConsumerGroupHeartbeatRequest.TopicPartitions()
                .setTopicId(id)
                .setPartitions(partitions)));
        return topics;
    }
}
