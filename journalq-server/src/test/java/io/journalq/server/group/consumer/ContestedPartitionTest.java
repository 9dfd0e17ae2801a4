package io.journalq.server.group.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * A power loss may take the record in which a member revoked a partition that was then assigned to another member. Seed
 * 1122.
 */
class ContestedPartitionTest {
    private static final Topics.Topic TOPIC = TestTopics.topic(1, "a-1", 2);
    private static final int MOST_HEARTBEATS = 50;

    private final TestCoordinator coordinator = new TestCoordinator(TestTopics.of(TOPIC));
    private final SimulatedMember first = new SimulatedMember(new Random(1), "first", 1);
    private final SimulatedMember second = new SimulatedMember(new Random(2), "second", 1);
    private long nowMs = 1_000;

    @Test
    void shouldLoadAndGiveAPartitionToItsNewerOwnerWhenTwoHaveIt() {
        // given a member with both partitions that revokes one for a second member
        heartbeat(first);
        assertThat(owned("first")).isEqualTo(2);
        heartbeat(second);
        int before = 0;
        int after = 0;
        for (int i = 0; owned("second") == 0 && i < MOST_HEARTBEATS; i++) {
            int size = coordinator.journalSize();
            int had = owned("first");
            heartbeat(first);
            if (owned("first") < had) {
                before = size;
                after = coordinator.journalSize();
            }
            heartbeat(second);
        }
        assertThat(owned("second")).isEqualTo(1);
        assertThat(after).isGreaterThan(before);
        int contested = group().current("second").owned().partitions(TOPIC.id()).get(0);

        // when the record of that is lost, but not the record of the second member
        coordinator.crashWithout(before, after, nowMs);

        // then both have it according to their records, and the second one owns it
        Uuid topicId = TOPIC.id();
        assertThat(owned("first")).isEqualTo(2);
        assertThat(owned("second")).isEqualTo(1);
        assertThat(group().isFreeFor("second", topicId, contested)).isTrue();
        assertThat(group().isFreeFor("first", topicId, contested)).isFalse();

        // and the conflict is resolved
        for (int i = 0; i < MOST_HEARTBEATS; i++) {
            heartbeat(first);
            heartbeat(second);
        }
        assertThat(owned("first")).isEqualTo(1);
        assertThat(owned("second")).isEqualTo(1);
        assertThat(group().current("second").owned().partitions(topicId)).containsExactly(contested);
        assertThat(group().stateName()).isEqualTo("Stable");
    }

    @Test
    void shouldGiveThePartitionsToOthersWhenTheRecordOfTheirMemberIsLost() {
        // given a member with both partitions
        heartbeat(first);
        assertThat(owned("first")).isEqualTo(2);

        // when the record of the member is lost, but not the record of its assignment, and it never returns
        coordinator.crashWithout(0, 1, nowMs);
        for (int i = 0; i < MOST_HEARTBEATS; i++) {
            heartbeat(second);
        }

        // then
        assertThat(owned("second")).isEqualTo(2);
        assertThat(group().stateName()).isEqualTo("Stable");
    }

    @Test
    void shouldTakeBackAMemberWhoseRecordIsLost() {
        heartbeat(first);
        coordinator.crashWithout(0, 1, nowMs);
        for (int i = 0; i < MOST_HEARTBEATS; i++) {
            heartbeat(second);
            heartbeat(first);
        }
        assertThat(owned("first")).isEqualTo(1);
        assertThat(owned("second")).isEqualTo(1);
    }

    private ConsumerGroup group() {
        return coordinator.groups.group("group");
    }

    private int owned(String memberId) {
        return group().current(memberId).owned().partitions(TOPIC.id()).size();
    }

    private void heartbeat(SimulatedMember member) {
        nowMs += 100;
        member.onResponse(coordinator.heartbeat(member.heartbeat(), nowMs));
    }
}
