package io.journalq.client.membership;

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
 * What a member tells its group: everything when it joins or an answer was lost, else only what changed. Belongs to the
 * event loop.
 */
final class Heartbeat {
    static final int JOIN_EPOCH = 0;
    private static final int LEAVE_EPOCH = -1;
    /** A member with a fixed name goes for a while: its partitions wait for it until the session time-out. */
    private static final int STATIC_LEAVE_EPOCH = -2;

    private static final short FIRST_VERSION_WITH_PATTERNS = 1;

    private final GroupConfig config;
    private Subscription subscription;
    private Set<Owned> owned = Set.of();
    private boolean tellAll = true;
    private boolean tellSubscription;
    private boolean tellOwned;

    Heartbeat(GroupConfig config) {
        this.config = config;
    }

    void subscribe(Subscription wanted) {
        subscription = wanted;
        tellSubscription = true;
    }

    void own(Set<Owned> partitions) {
        owned = partitions;
        tellOwned = true;
    }

    /** What was told may not have arrived. */
    void forgetTold() {
        tellAll = true;
    }

    /** The next heartbeat. It counts as told. */
    ConsumerGroupHeartbeatRequest next(String memberId, int epoch, short version) {
        ConsumerGroupHeartbeatRequest request = plain(memberId, epoch);
        boolean all = tellAll || epoch == JOIN_EPOCH;
        if (all) {
            request.setRebalanceTimeoutMs(config.maxPollIntervalMs()).setServerAssignor(config.assignor());
        }
        if (all || tellSubscription) {
            request.setSubscribedTopicNames(subscription.topics());
            if (subscription.pattern() != null) {
                request.setSubscribedTopicRegex(subscription.pattern().expression());
            } else if (version >= FIRST_VERSION_WITH_PATTERNS) {
                request.setSubscribedTopicRegex("");
            }
        }
        if (epoch == JOIN_EPOCH) {
            request.setTopicPartitions(List.of());
        } else if (all || tellOwned) {
            request.setTopicPartitions(topicPartitions());
        }
        tellAll = false;
        tellSubscription = false;
        tellOwned = false;
        return request;
    }

    ConsumerGroupHeartbeatRequest leave(String memberId) {
        return plain(memberId, config.instanceId() == null ? LEAVE_EPOCH : STATIC_LEAVE_EPOCH);
    }

    /** What the group assigns; null when the answer does not say. */
    static Set<Owned> target(ConsumerGroupHeartbeatResponse answer) {
        if (answer.assignment() == null) {
            return null;
        }
        Set<Owned> target = new LinkedHashSet<>();
        for (ConsumerGroupHeartbeatResponse.TopicPartitions topic :
                answer.assignment().topicPartitions()) {
            topic.partitions().forEach(partition -> target.add(new Owned(topic.topicId(), partition)));
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
