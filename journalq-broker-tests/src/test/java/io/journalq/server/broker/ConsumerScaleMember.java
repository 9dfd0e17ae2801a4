package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import java.util.List;

/** A member of the consumer protocol (KIP-848), which revokes partitions immediately. */
final class ConsumerScaleMember implements ScaleMember {
    private static final int VERSION = 1;
    private static final int REBALANCE_TIMEOUT_MS = 600_000;
    private static final int LEAVE_EPOCH = -1;

    private final MemberSockets.Connection connection;
    private final int group;
    private final String topic;
    private final String memberId;
    private Uuid topicId;
    private int epoch;
    private boolean waits;
    private boolean tellsPartitions;
    private List<Integer> partitions = List.of();

    ConsumerScaleMember(MemberSockets.Connection connection, int group, String topic, String memberId) {
        this.connection = connection;
        this.group = group;
        this.topic = topic;
        this.memberId = memberId;
    }

    @Override
    public int group() {
        return group;
    }

    @Override
    public void act() {
        if (waits) {
            return;
        }
        waits = true;
        ConsumerGroupHeartbeatRequest request = request(epoch);
        if (epoch == 0) {
            request.setSubscribedTopicNames(List.of(topic))
                    .setRebalanceTimeoutMs(REBALANCE_TIMEOUT_MS)
                    .setTopicPartitions(List.of());
        } else if (tellsPartitions) {
            ConsumerGroupHeartbeatRequest.TopicPartitions owned = new ConsumerGroupHeartbeatRequest.TopicPartitions()
                    .setTopicId(topicId)
                    .setPartitions(partitions);
            request.setTopicPartitions(partitions.isEmpty() ? List.of() : List.of(owned));
        }
        tellsPartitions = false;
        connection.send(request, VERSION, ConsumerGroupHeartbeatResponse.class, this::onResponse);
    }

    private ConsumerGroupHeartbeatRequest request(int withEpoch) {
        return new ConsumerGroupHeartbeatRequest()
                .setGroupId("group-" + group)
                .setMemberId(memberId)
                .setMemberEpoch(withEpoch);
    }

    private void onResponse(ConsumerGroupHeartbeatResponse response) {
        waits = false;
        if (response.errorCode() != ErrorCode.NONE.code()) {
            throw new AssertionError("group " + group + ": " + response);
        }
        epoch = response.memberEpoch();
        if (response.assignment() != null) {
            response.assignment().topicPartitions().forEach(assigned -> topicId = assigned.topicId());
            List<Integer> assigned = response.assignment().topicPartitions().stream()
                    .flatMap(one -> one.partitions().stream())
                    .sorted()
                    .toList();
            tellsPartitions = !assigned.equals(partitions);
            partitions = assigned;
        }
    }

    @Override
    public void leave() {
        waits = true;
        connection.send(request(LEAVE_EPOCH), VERSION, ConsumerGroupHeartbeatResponse.class, response -> {
            waits = false;
            if (response.errorCode() != ErrorCode.NONE.code()) {
                throw new AssertionError("group " + group + ": " + response);
            }
        });
    }

    @Override
    public boolean waits() {
        return waits;
    }

    @Override
    public boolean mayWaitForOthers() {
        return false;
    }

    @Override
    public boolean isStable() {
        return epoch > 0 && !tellsPartitions;
    }

    @Override
    public int generation() {
        return epoch;
    }

    @Override
    public List<Integer> partitions() {
        return partitions;
    }
}
