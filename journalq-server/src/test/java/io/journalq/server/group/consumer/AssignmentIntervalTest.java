package io.journalq.server.group.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.server.coordinator.CoordinatorMachine;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The minimum time between assignments of a group of the consumer protocol. */
class AssignmentIntervalTest {
    private static final int INTERVAL_MS = 1_000;

    private final TestCoordinator coordinator = new TestCoordinator(TestTopics.of(TestTopics.topic(0, "topic-0", 4)));

    @Test
    void shouldMakeOneAssignmentOfWhatChangesWithinTheInterval() {
        // given a group with one member, which was assigned partitions at once
        coordinator.groups.onTimes(groupId -> new GroupTimes(5_000, 45_000, INTERVAL_MS));
        int first = join("a", 10_000).memberEpoch();

        // when two more join within the interval
        join("b", 10_100);
        join("c", 10_200);

        // then nothing is assigned until it has passed, and then all changes together
        ConsumerGroup group = coordinator.groups.group("group");
        assertThat(group.assignmentEpoch()).isEqualTo(first);
        assertThat(coordinator.groups.onTick(10_300)).isEqualTo(10_000 + INTERVAL_MS);
        long nextMs = coordinator.groups.onTick(10_000 + INTERVAL_MS);
        assertThat(nextMs).isGreaterThan(10_000 + INTERVAL_MS).isNotEqualTo(CoordinatorMachine.NEVER);
        assertThat(group.assignmentEpoch()).isEqualTo(group.epoch()).isEqualTo(first + 2);
        assertThat(group.target("b")).isNotEqualTo(group.target("c"));
    }

    @Test
    void shouldAssignAtOnceIfTheClockIsBehindThatOfTheLastAssignment() {
        // given a group whose last coordinator had a clock that was an hour ahead
        coordinator.groups.onTimes(groupId -> new GroupTimes(5_000, 45_000, INTERVAL_MS));
        join("a", 3_610_000);

        // when another member joins
        join("b", 10_000);

        // then it does not wait for an hour
        ConsumerGroup group = coordinator.groups.group("group");
        assertThat(group.assignmentEpoch()).isEqualTo(group.epoch());
        // and the interval applies again
        join("c", 10_100);
        assertThat(group.assignmentEpoch()).isEqualTo(group.epoch() - 1);
        coordinator.groups.onTick(10_000 + INTERVAL_MS);
        assertThat(group.assignmentEpoch()).isEqualTo(group.epoch());
    }

    private ConsumerGroupHeartbeatResponse join(String memberId, long nowMs) {
        return coordinator.heartbeat(
                new ConsumerGroupHeartbeatRequest()
                        .setGroupId("group")
                        .setMemberId(memberId)
                        .setMemberEpoch(0)
                        .setRebalanceTimeoutMs(60_000)
                        .setSubscribedTopicNames(List.of("topic-0"))
                        .setTopicPartitions(List.of()),
                nowMs);
    }
}
