package io.journalq.server.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.group.CommittedOffsets.GroupTopic;
import io.journalq.server.group.GroupLimits.GroupCount;
import io.journalq.server.group.GroupLimits.GroupMemory;
import io.journalq.server.group.consumer.ConsumerGroupLimits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Lists of committed offsets in pages. */
class CommittedOffsetsPageTest {
    private final GroupMachine machine = new GroupMachine(
            new GroupLimits(100, 1, 100_000, 0, 5, 10_000, 1_000),
            ConsumerGroupLimits.DEFAULT,
            GroupCount.UNLIMITED,
            GroupMemory.UNBOUNDED,
            this::append,
            nowMs -> nowMs,
            () -> "id");

    private void append(List<CoordinatorRecord> records) {
        records.forEach(machine::replay);
    }

    private void commit(String group, String topic, int partition, long offset) {
        machine.offsets()
                .commit(
                        group,
                        List.of(new CommittedOffsets.Commit(topic, new Uuid(1, 1), partition, offset, 3, 4, null)),
                        0);
    }

    @Test
    void shouldListEveryTopicOfEveryGroupOnceWhenPagesAreSmall() {
        // given
        commit("a", "t", 0, 10);
        commit("a", "t", 2, 12);
        commit("a", "u", 0, 20);
        commit("b", "t", 1, 30);

        // when
        List<String> listed = new ArrayList<>();
        GroupTopic after = null;
        List<GroupTopic> page = machine.offsets().page(null, 2);
        while (!page.isEmpty()) {
            for (GroupTopic next : page) {
                listed.add(next.groupId() + " " + next.topic() + " " + next.offsets());
                after = next;
            }
            listed.add("end");
            page = machine.offsets().page(after, 2);
        }

        // then
        assertThat(listed).containsExactly("a t {0=10, 2=12}", "end", "a u {0=20}", "b t {1=30}", "end");
        assertThat(machine.offsets().groupTopicCount()).isEqualTo(3);
    }

    @Test
    void shouldContinueBehindTheLastTopicWhenItWasDeletedBetweenPages() {
        commit("a", "t", 0, 10);
        commit("a", "u", 0, 20);
        GroupTopic after = machine.offsets().page(null, 1).get(0);

        machine.offsets().onTopicsGone((topic, id) -> topic.equals("t"));

        assertThat(machine.offsets().page(after, 1))
                .extracting(GroupTopic::topic)
                .containsExactly("u");
        assertThat(machine.offsets().groupTopicCount()).isEqualTo(1);
    }
}
