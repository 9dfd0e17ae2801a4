package io.journalq.server.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.RetentionTime;
import io.journalq.server.group.GroupLimits.GroupCount;
import io.journalq.server.group.GroupLimits.GroupMemory;
import io.journalq.server.group.consumer.ConsumerGroupLimits;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Committed offsets behind the end of a partition that lost records. */
class OffsetTruncationTest {
    private static final GroupLimits LIMITS = new GroupLimits(100, 1, 100_000, 0, 5, 10_000, 1_000);

    private final GroupMachine machine = new GroupMachine(
            LIMITS,
            ConsumerGroupLimits.DEFAULT,
            GroupCount.UNLIMITED,
            GroupMemory.UNBOUNDED,
            this::append,
            RetentionTime.CLOCK,
            () -> "id");

    private void append(List<CoordinatorRecord> records) {
        records.forEach(machine::replay);
    }

    private void commit(int partition, long offset, String metadata) {
        machine.offsets()
                .commit(
                        "g",
                        List.of(new CommittedOffsets.Commit("t", new Uuid(1, 1), partition, offset, 3, 4, metadata)),
                        0);
    }

    @Test
    void shouldMoveOffsetsBackToTheEndOfAPartitionThatLostItsTail() {
        commit(0, 7, "note");
        commit(1, 7, "");
        commit(2, 7, "");

        AtomicBoolean kept = new AtomicBoolean();
        int moved = machine.offsetTruncation()
                .moveBack((topic, partition, epoch) -> partition == 2 ? -1 : 5 + partition * 2, () -> kept.set(true));

        assertThat(kept).isTrue();

        assertThat(moved).isEqualTo(1);
        assertThat(machine.offsets().get("g", "t", 0)).isEqualTo(new GroupOffset(5, -1, 3, "note", 0, new Uuid(1, 1)));
        assertThat(machine.offsets().get("g", "t", 1).offset()).isEqualTo(7);
        assertThat(machine.offsets().get("g", "t", 2).offset()).isEqualTo(7);
    }

    @Test // seed 90013596
    void shouldGoByTheEpochOfThePartitionWhenTheClientDoesNotSayWhatItRead() {
        // given a partition with a low number and one with a high number, which are stored differently
        List<Integer> partitions = List.of(0, 1_000_000);
        for (int partition : partitions) {
            machine.offsets()
                    .commit("g", List.of(new CommittedOffsets.Commit("t", new Uuid(1, 1), partition, 7, -1, 4, "")), 0);
        }

        // when epoch 4 has lost its tail, and records of epoch 5 have replaced it
        machine.offsetTruncation().moveBackInMemory((topic, partition, epoch) -> epoch == 4 ? 3 : 100);

        // then
        for (int partition : partitions) {
            assertThat(machine.offsets().get("g", "t", partition).offset()).isEqualTo(3);
        }
    }

    @Test
    void shouldMoveAnOffsetBackAgainWhenItsPartitionLosesMore() {
        // given an offset that was moved back to the end of its epoch
        commit(0, 7, "");
        machine.offsetTruncation().moveBack((topic, partition, epoch) -> 5, () -> {});

        // when a later epoch of the partition begins without records before that
        List<OffsetTruncation.PartitionEpoch> asked = machine.offsetTruncation().olderThan(topic -> partition -> 9);

        // then the offset is checked again
        assertThat(asked).containsExactly(new OffsetTruncation.PartitionEpoch("t", 0, 3));
        machine.offsetTruncation().moveBack((topic, partition, epoch) -> epoch == 3 ? 2 : -1, () -> {});
        assertThat(machine.offsets().get("g", "t", 0).offset()).isEqualTo(2);
    }
}
