package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.Message;
import io.journalq.server.metadata.ClusterVersion;
import io.journalq.server.metadata.record.PartitionChangesRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord.ChangeState;
import io.journalq.server.metadata.record.TopicRecord;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProposalBatchesTest {
    private static PartitionChangesRecord changes(int count) {
        List<ChangeState> changes = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            changes.add(new ChangeState().setPartition(number).setLeader(2).setInSyncReplicas(List.of(2, 3)));
        }
        return new PartitionChangesRecord().setTopicId(new Uuid(1, 1)).setChanges(changes);
    }

    private static TopicRecord topic(int nameLength) {
        return new TopicRecord().setTopicId(new Uuid(1, 1)).setName("t".repeat(nameLength));
    }

    private static List<List<Message>> divide(List<List<Message>> parts) {
        return ProposalBatches.divide(parts, ClusterVersion.FIRST);
    }

    @Test
    void shouldKeepTogetherWhatFitsIntoABatch() {
        List<List<Message>> batches = divide(List.of(List.of(topic(3), topic(4)), List.of(changes(999))));

        assertThat(batches).singleElement().satisfies(batch -> assertThat(batch).hasSize(3));
    }

    @Test
    void shouldBeginAnotherBatchWhenTooManyPartitionsChange() {
        Message first = changes(600);
        Message second = changes(400);
        Message third = changes(1);

        List<List<Message>> batches = divide(List.of(List.of(first), List.of(second), List.of(third)));

        assertThat(batches).containsExactly(List.of(first, second), List.of(third));
    }

    @Test
    void shouldStayBelowTheLimitOfBytesWhenThereAreManyParts() {
        List<List<Message>> parts = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            parts.add(List.of(topic(1 + i % 100)));
        }

        List<List<Message>> batches = divide(parts);

        assertThat(batches).hasSizeBetween(4, 8);
        assertThat(batches.stream().mapToInt(List::size).sum()).isEqualTo(parts.size());
        assertThat(batches).allSatisfy(batch -> {
            ByteBuf encoded = MetadataLogCodec.batch(
                    batch, ClusterVersion.FIRST, 1_700_000_000_000L, UnpooledByteBufAllocator.DEFAULT);
            assertThat(encoded.readableBytes()).isLessThanOrEqualTo(256 * 1024);
            encoded.release();
        });
    }

    @Test
    void shouldNotDivideAPartWhenItIsLargerThanABatch() {
        List<Message> large = List.of(topic(3), changes(2_000), topic(5));
        List<Message> small = List.of(topic(6));

        assertThat(divide(List.of(small, large, small))).containsExactly(small, large, small);
    }
}
