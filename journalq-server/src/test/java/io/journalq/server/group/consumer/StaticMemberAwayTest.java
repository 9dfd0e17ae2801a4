package io.journalq.server.group.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.server.group.consumer.CurrentAssignment.State;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A static member that leaves temporarily keeps its assignment, but not the partitions that it was asked to revoke. */
class StaticMemberAwayTest {
    private static final int REBALANCE_TIMEOUT_MS = 10_000;
    private static final Topics.Topic TOPIC = TestTopics.topic(1, "a-1", 2);

    private final TestCoordinator coordinator = new TestCoordinator(TestTopics.of(TOPIC));
    private long nowMs = 1_000;

    @Test
    void shouldGiveUpWhatItMustRevokeWhenItLeavesTemporarily() {
        // given a static member that must revoke one of two partitions
        int epoch = heartbeat("static", "instance", 0, List.of()).memberEpoch();
        int other = heartbeat("other", null, 0, List.of()).memberEpoch();
        heartbeat("static", "instance", epoch, List.of(0, 1));
        assertThat(current("static").state()).isEqualTo(State.UNREVOKED_PARTITIONS);

        // when it leaves for a while
        heartbeat("static", "instance", CurrentAssignment.STATIC_LEFT_EPOCH, null);

        // then the other member gets that partition
        heartbeat("other", null, other, List.of());
        assertThat(current("other").assigned().size()).isEqualTo(1);

        // and the static member keeps its own one until the session timeout, not only until the rebalance timeout
        nowMs += REBALANCE_TIMEOUT_MS + 1;
        coordinator.groups.onTick(nowMs);
        assertThat(current("static").assigned().size()).isEqualTo(1);
        assertThat(heartbeat("again", "instance", 0, List.of())
                        .assignment()
                        .topicPartitions()
                        .get(0)
                        .partitions())
                .hasSize(1);
        assertThat(current("other").assigned().size()).isEqualTo(1);
    }

    @Test
    void shouldGiveUpEverythingWhenAnotherMemberTakesItsInstanceId() {
        // given a static member that has left for a while
        heartbeat("static", "instance", 0, List.of());
        heartbeat("other", null, 0, List.of());
        heartbeat("static", "instance", CurrentAssignment.STATIC_LEFT_EPOCH, null);

        // when a member that is in the group joins again, with its instance id
        heartbeat("other", "instance", 0, List.of());

        // then nobody waits for the session timeout
        ConsumerGroup group = coordinator.groups.group("group");
        assertThat(group.members()).containsOnlyKeys("other");
        assertThat(group.memberOfInstance("instance")).isEqualTo("other");
        assertThat(current("other").assigned().size()).isEqualTo(2);
    }

    private CurrentAssignment current(String memberId) {
        return coordinator.groups.group("group").current(memberId);
    }

    /** @param owned null for a heartbeat that does not report partitions */
    private ConsumerGroupHeartbeatResponse heartbeat(
            String memberId, String instanceId, int epoch, List<Integer> owned) {
        ConsumerGroupHeartbeatRequest request = new ConsumerGroupHeartbeatRequest()
                .setGroupId("group")
                .setMemberId(memberId)
                .setInstanceId(instanceId)
                .setMemberEpoch(epoch)
                .setRebalanceTimeoutMs(REBALANCE_TIMEOUT_MS)
                .setSubscribedTopicNames(List.of(TOPIC.name()));
        if (owned != null) {
            request.setTopicPartitions(
                    owned.isEmpty()
                            ? List.of()
                            : List.of(new ConsumerGroupHeartbeatRequest.TopicPartitions()
                                    .setTopicId(TOPIC.id())
                                    .setPartitions(owned)));
        }
        ConsumerGroupHeartbeatResponse response = coordinator.heartbeat(request, nowMs);
        assertThat(response.errorCode()).isZero();
        return response;
    }
}
