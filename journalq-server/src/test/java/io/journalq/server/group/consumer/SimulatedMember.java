package io.journalq.server.group.consumer;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest.TopicPartitions;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.server.group.consumer.assignor.Assignment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A member as implemented by clients: sends changes only, sends everything after it missed a response, and joins again
 * when it is fenced.
 */
final class SimulatedMember {
    private final Random random;
    private final String id;
    private List<String> names = List.of();
    private String regex;
    private int epoch;
    private Assignment owned = Assignment.EMPTY;
    private boolean tellsAll = true;
    private boolean tellsOwned = true;

    SimulatedMember(Random random, String id, int subscription) {
        this.random = random;
        this.id = id;
        subscribe(subscription);
    }

    String id() {
        return id;
    }

    int epoch() {
        return epoch;
    }

    Assignment owned() {
        return owned;
    }

    void subscribe(int subscription) {
        names = subscription == 0 ? List.of("a-1", "a-2", "a-3") : subscription == 1 ? List.of("a-1") : List.of();
        regex = subscription < 2 ? null : subscription == 2 ? "a-.*" : "a-[24]";
        tellsAll = true;
    }

    boolean knowsItsEpoch(ConsumerGroup group) {
        return group.member(id) != null && group.current(id).memberEpoch() == epoch;
    }

    ConsumerGroupHeartbeatRequest heartbeat() {
        boolean all = tellsAll || epoch == 0;
        ConsumerGroupHeartbeatRequest request = new ConsumerGroupHeartbeatRequest()
                .setGroupId("group")
                .setMemberId(id)
                .setMemberEpoch(epoch);
        if (all) {
            request.setSubscribedTopicNames(names)
                    .setSubscribedTopicRegex(regex == null ? "" : regex)
                    .setRebalanceTimeoutMs(60_000);
        }
        if (all || tellsOwned) {
            List<TopicPartitions> topics = new ArrayList<>();
            owned.topicIds()
                    .forEach(topic ->
                            topics.add(new TopicPartitions().setTopicId(topic).setPartitions(owned.partitions(topic))));
            request.setTopicPartitions(topics);
        }
        tellsAll = false;
        tellsOwned = false;
        return request;
    }

    ConsumerGroupHeartbeatRequest leaving() {
        return new ConsumerGroupHeartbeatRequest()
                .setGroupId("group")
                .setMemberId(id)
                .setMemberEpoch(CurrentAssignment.LEAVE_EPOCH);
    }

    void onNoResponse() {
        tellsAll = true;
        tellsOwned = true;
    }

    void onResponse(ConsumerGroupHeartbeatResponse response) {
        if (response.errorCode() != ErrorCode.NONE.code()) {
            epoch = 0;
            owned = Assignment.EMPTY;
            tellsAll = true;
            return;
        }
        epoch = response.memberEpoch();
        if (response.assignment() != null) {
            Assignment.Builder assigned = new Assignment.Builder();
            response.assignment().topicPartitions().forEach(topic -> topic.partitions()
                    .forEach(partition -> assigned.add(topic.topicId(), partition)));
            Assignment next = assigned.build();
            tellsOwned = !next.equals(owned) || random.nextInt(10) == 0;
            owned = next;
        }
    }
}
