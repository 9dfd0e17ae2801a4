package io.journalq.client.internal.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponsePartition;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponseTopic;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterViewTest {
    private static final Uuid ID = new Uuid(1, 1);

    private static MetadataResponseTopic response(Uuid id, int leader, int... epochs) {
        List<MetadataResponsePartition> partitions = new ArrayList<>();
        for (int i = 0; i < epochs.length; i++) {
            partitions.add(new MetadataResponsePartition()
                    .setPartitionIndex(i)
                    .setLeaderId(leader)
                    .setLeaderEpoch(epochs[i]));
        }
        return new MetadataResponseTopic().setName("t").setTopicId(id).setPartitions(partitions);
    }

    @Test
    void shouldKeepALeaderWhenTheResponseHasAnEarlierEpoch() {
        // given
        ClusterView.Topic known = ClusterView.Topic.of(response(ID, 1, 4, 4, 4), null);

        // when
        ClusterView.Topic updated = ClusterView.Topic.of(response(ID, 2, 3, 4, 5, 0), known);

        // then
        assertThat(updated.leaders()).containsExactly(1, 2, 2, 2);
        assertThat(updated.leaderEpochs()).containsExactly(4, 4, 5, 0);
    }

    @Test
    void shouldTakeWhatTheResponseSaysWhenTheTopicWasCreatedAgain() {
        // given
        ClusterView.Topic known = ClusterView.Topic.of(response(ID, 1, 4, 4), null);

        // when
        ClusterView.Topic updated = ClusterView.Topic.of(response(new Uuid(1, 2), 2, 0), known);

        // then
        assertThat(updated.leaders()).containsExactly(2);
        assertThat(updated.leaderEpochs()).containsExactly(0);
    }

    @Test
    void shouldTakeTheLeaderWhenTheResponseHasNoEpochs() {
        // given
        ClusterView.Topic known = ClusterView.Topic.of(response(ID, 1, 4), null);

        // when
        ClusterView.Topic updated = ClusterView.Topic.of(response(ID, 2, -1), known);

        // then
        assertThat(updated.leaders()).containsExactly(2);
    }
}
