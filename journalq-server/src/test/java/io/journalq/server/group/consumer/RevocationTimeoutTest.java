package io.journalq.server.group.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.server.group.consumer.CurrentAssignment.State;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The time that a member of the consumer protocol has to revoke partitions. */
class RevocationTimeoutTest {
    private static final int REBALANCE_TIMEOUT_MS = 10_000;
    private static final Topics.Topic TOPIC = TestTopics.topic(1, "a-1", 3);

    private final TestCoordinator coordinator = new TestCoordinator(TestTopics.of(TOPIC));
    private long nowMs = 1_000;

    @Test
    void shouldHaveTheWholeTimeoutForEachRevocation() {
        // given a member that must revoke one of three partitions
        int epoch = heartbeat("slow", 0, List.of()).memberEpoch();
        heartbeat("b", 0, List.of());
        heartbeat("slow", epoch, List.of(0, 1, 2));
        assertThat(current().state()).isEqualTo(State.UNREVOKED_PARTITIONS);
        List<Integer> kept = kept();
        assertThat(kept).hasSize(2);
        // and then another one
        heartbeat("c", 0, List.of());

        // when it revokes the first one shortly before the timeout
        nowMs += REBALANCE_TIMEOUT_MS - 1;
        coordinator.groups.onTick(nowMs);
        heartbeat("slow", epoch, kept);
        assertThat(current().state()).isEqualTo(State.UNREVOKED_PARTITIONS);
        assertThat(kept()).hasSize(1);

        // then it has as long for the second one, whether or not it sends heartbeats
        nowMs += REBALANCE_TIMEOUT_MS - 1;
        coordinator.groups.onTick(nowMs);
        heartbeat("slow", epoch, kept);
        assertThat(coordinator.groups.group("group").members()).containsKey("slow");

        // and no longer
        nowMs += 1;
        coordinator.groups.onTick(nowMs);
        assertThat(coordinator.groups.group("group").members()).containsOnlyKeys("b", "c");
    }

    private CurrentAssignment current() {
        return coordinator.groups.group("group").current("slow");
    }

    private List<Integer> kept() {
        List<Integer> kept = new ArrayList<>();
        current().assigned().forEach((topicId, partition) -> kept.add(partition));
        return kept;
    }

    private ConsumerGroupHeartbeatResponse heartbeat(String memberId, int epoch, List<Integer> owned) {
        ConsumerGroupHeartbeatRequest request = new ConsumerGroupHeartbeatRequest()
                .setGroupId("group")
                .setMemberId(memberId)
                .setMemberEpoch(epoch)
                .setRebalanceTimeoutMs(REBALANCE_TIMEOUT_MS)
                .setSubscribedTopicNames(List.of(TOPIC.name()))
                .setTopicPartitions(
                        owned.isEmpty()
                                ? List.of()
                                : List.of(new ConsumerGroupHeartbeatRequest.TopicPartitions()
                                        .setTopicId(TOPIC.id())
                                        .setPartitions(owned)));
        ConsumerGroupHeartbeatResponse response = coordinator.heartbeat(request, nowMs);
        assertThat(response.errorCode()).isZero();
        return response;
    }
}
