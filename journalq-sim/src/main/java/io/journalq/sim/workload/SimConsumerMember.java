package io.journalq.sim.workload;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A group member of the consumer protocol (KIP-848). */
public final class SimConsumerMember extends SimGroupMember {
    private static final int VERSION = 1;
    private static final int REBALANCE_TIMEOUT_MS = 300;
    private static final int LEAVES = -1;

    private final String name;
    private int incarnation;
    private int epoch;

    public SimConsumerMember(World world, GroupHistory group, List<Topic> topics, String name) {
        super(world, group, topics);
        this.name = name;
    }

    private String memberId() {
        return name + "-" + incarnation;
    }

    @Override
    void onConnected() {
        world().later(1, this::heartbeat);
    }

    @Override
    OffsetCommitSender.Member identity() {
        return new OffsetCommitSender.Member(memberId(), epoch);
    }

    @Override
    boolean isClassic() {
        return false;
    }

    @Override
    void leave() {
        ConsumerGroupHeartbeatRequest request = new ConsumerGroupHeartbeatRequest()
                .setGroupId(group().name())
                .setMemberId(memberId())
                .setMemberEpoch(LEAVES);
        owned().clear();
        connection().send(ApiKey.CONSUMER_GROUP_HEARTBEAT, VERSION, request, message -> world().deliver(() -> {
            incarnation++;
            epoch = 0;
            rest();
        }));
    }

    @Override
    void heartbeat() {
        ConsumerGroupHeartbeatRequest request = new ConsumerGroupHeartbeatRequest()
                .setGroupId(group().name())
                .setMemberId(memberId())
                .setMemberEpoch(epoch)
                .setRebalanceTimeoutMs(REBALANCE_TIMEOUT_MS)
                .setSubscribedTopicNames(subscribed().stream().map(Topic::name).toList())
                .setTopicPartitions(epoch == 0 ? List.of() : ownedByTopic());
        connection().send(ApiKey.CONSUMER_GROUP_HEARTBEAT, VERSION, request, message -> {
            ConsumerGroupHeartbeatResponse response =
                    message instanceof ConsumerGroupHeartbeatResponse heartbeat ? heartbeat : null;
            List<PartitionHistory> granted = response == null || response.errorCode() != 0 ? null : record(response);
            world().deliver(() -> onResponse(response, granted));
        });
    }

    private List<ConsumerGroupHeartbeatRequest.TopicPartitions> ownedByTopic() {
        Map<Uuid, List<Integer>> byTopic = new LinkedHashMap<>();
        owned().forEach(partition -> byTopic.computeIfAbsent(partition.topicId(), none -> new ArrayList<>())
                .add(partition.partition()));
        List<ConsumerGroupHeartbeatRequest.TopicPartitions> all = new ArrayList<>();
        byTopic.forEach((id, partitions) -> all.add(new ConsumerGroupHeartbeatRequest.TopicPartitions()
                .setTopicId(id)
                .setPartitions(partitions)));
        return all;
    }

    /**
     * Records a response at the moment when the broker sends it. Returns the new assignment; null if it does not
     * change.
     */
    private List<PartitionHistory> record(ConsumerGroupHeartbeatResponse response) {
        group().onMemberEpoch(memberId(), response.memberEpoch());
        if (response.assignment() == null) {
            return null;
        }
        List<PartitionHistory> granted = new ArrayList<>();
        for (ConsumerGroupHeartbeatResponse.TopicPartitions given :
                response.assignment().topicPartitions()) {
            Topic topic = subscribed().stream()
                    .filter(one -> one.id().equals(given.topicId()))
                    .findFirst()
                    .orElse(null);
            for (int number : given.partitions()) {
                PartitionHistory partition = find(topic, number);
                if (partition != null) {
                    granted.add(partition);
                    if (!owned().contains(partition)) {
                        group().onGranted(partition, memberId(), response.memberEpoch());
                    }
                }
            }
        }
        return granted;
    }

    private void onResponse(ConsumerGroupHeartbeatResponse response, List<PartitionHistory> granted) {
        ErrorCode error = response == null ? ErrorCode.UNKNOWN_SERVER_ERROR : ErrorCode.of(response.errorCode());
        if (error == ErrorCode.NONE) {
            epoch = response.memberEpoch();
            if (granted != null) {
                owned().clear();
                owned().addAll(granted);
            }
        } else if (error == ErrorCode.FENCED_MEMBER_EPOCH
                || error == ErrorCode.UNKNOWN_MEMBER_ID
                || error == ErrorCode.GROUP_ID_NOT_FOUND) {
            owned().clear();
            incarnation++;
            epoch = 0;
        }
        rest();
    }
}
