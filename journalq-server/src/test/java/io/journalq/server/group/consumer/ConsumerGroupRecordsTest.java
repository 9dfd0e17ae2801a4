package io.journalq.server.group.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.server.group.record.ConsumerGroupTargetAssignmentMemberValue;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Damaged group records that must be rejected. Found by the fuzzing target coordinator-records. */
class ConsumerGroupRecordsTest {
    private static final Uuid TOPIC_ID = new Uuid(1, 1);

    @Test
    void shouldRefuseAPartitionOfANumberThatNoneCanHave() {
        assertThat(ConsumerGroupRecords.target(value(7)).partitions(TOPIC_ID)).containsExactly(7);
        for (int impossible : new int[] {-1, 1_000_000, 2_000_000}) {
            assertThatThrownBy(() -> ConsumerGroupRecords.target(value(impossible)))
                    .isInstanceOf(BadFrameException.class)
                    .hasMessageContaining(String.valueOf(impossible));
        }
    }

    private static ConsumerGroupTargetAssignmentMemberValue value(int partition) {
        return new ConsumerGroupTargetAssignmentMemberValue()
                .setTopicPartitions(List.of(new ConsumerGroupTargetAssignmentMemberValue.TopicPartition()
                        .setTopicId(TOPIC_ID)
                        .setPartitions(List.of(partition))));
    }
}
