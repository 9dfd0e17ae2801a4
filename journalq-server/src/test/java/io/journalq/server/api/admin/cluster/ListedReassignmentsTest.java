package io.journalq.server.api.admin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.message.ListPartitionReassignmentsRequest;
import io.journalq.common.protocol.message.ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics;
import io.journalq.common.protocol.message.ListPartitionReassignmentsResponse;
import io.journalq.common.protocol.message.ListPartitionReassignmentsResponse.OngoingPartitionReassignment;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.partition.Reassignment;
import java.util.AbstractList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ListedReassignmentsTest {
    private static final int PARTITIONS = 500;
    private static final int NUMBERS = 10_000;

    private static final PartitionImage MOVING = new PartitionImage(
            1,
            0,
            0,
            List.of(1, 2),
            List.of(1),
            List.of(),
            List.of(),
            PartitionImage.NO_RECOVERY,
            new Reassignment(List.of(2), List.of()));

    private final TopicImage topic =
            new TopicImage("orders", new Uuid(1, 1), Collections.nCopies(PARTITIONS, MOVING), Map.of());

    /** Numbers of no partition, except for the last one. */
    private static final class CountedNumbers extends AbstractList<Integer> {
        private int reads;

        @Override
        public Integer get(int index) {
            reads++;
            return index == NUMBERS - 1 ? 7 : PARTITIONS + index;
        }

        @Override
        public int size() {
            return NUMBERS;
        }
    }

    @Test
    void shouldReadTheNumbersOfARequestOnce() {
        CountedNumbers numbers = new CountedNumbers();
        ListPartitionReassignmentsRequest request = new ListPartitionReassignmentsRequest()
                .setTopics(List.of(new ListPartitionReassignmentsTopics()
                        .setName(topic.name())
                        .setPartitionIndexes(numbers)));

        ListPartitionReassignmentsResponse response =
                ListPartitionReassignmentsHandler.list(request, List.of(topic), name -> topic);

        assertThat(response.topics()).singleElement().satisfies(each -> assertThat(each.partitions())
                .singleElement()
                .satisfies(moving -> assertThat(moving.partitionIndex()).isEqualTo(7)));
        assertThat(numbers.reads).isEqualTo(NUMBERS);
    }

    @Test
    void shouldNameATopicOnceThatIsAskedForOften() {
        ListPartitionReassignmentsTopics one =
                new ListPartitionReassignmentsTopics().setName(topic.name()).setPartitionIndexes(List.of(1));
        ListPartitionReassignmentsTopics other =
                new ListPartitionReassignmentsTopics().setName(topic.name()).setPartitionIndexes(List.of(1, 2));
        ListPartitionReassignmentsRequest request =
                new ListPartitionReassignmentsRequest().setTopics(List.of(one, other, one));

        ListPartitionReassignmentsResponse response =
                ListPartitionReassignmentsHandler.list(request, List.of(topic), name -> topic);

        assertThat(response.topics()).singleElement().satisfies(each -> assertThat(each.partitions())
                .extracting(OngoingPartitionReassignment::partitionIndex)
                .containsExactly(1, 2));
    }
}
