package io.journalq.sim.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.sim.world.Violations;
import java.util.List;
import org.junit.jupiter.api.Test;

class NobodyCutsBelowItsHighWatermarkTest {
    private static final Uuid TOPIC = new Uuid(1, 1);
    private static final ClusterReplicas.Id PARTITION = new ClusterReplicas.Id(TOPIC, 0);
    private static final int BROKER = 3;

    private final Violations violations = new Violations();
    private final NobodyCutsBelowItsHighWatermark cuts = new NobodyCutsBelowItsHighWatermark(violations);

    /** The broker's replica is seen when these brokers are in sync. */
    private void see(List<Integer> inSync, long endOffset, long highWatermark) {
        MetadataMachine metadata = new MetadataMachine(new MetadataMachine.Limits(0, 1, 10, 1_000));
        metadata.replay(List.of(new TopicRecord().setTopicId(TOPIC).setName("t")));
        metadata.replay(List.of(new PartitionsRecord()
                .setTopicId(TOPIC)
                .setPartitions(List.of(new PartitionState()
                        .setLeader(1)
                        .setReplicas(List.of(1, BROKER))
                        .setInSyncReplicas(inSync)))));
        ClusterReplicas replicas = new ClusterReplicas(metadata.image());
        replicas.add(
                BROKER,
                List.of(new ReplicaStatus(
                        TOPIC, new TopicPartition("t", 0), false, 0, 0, 0, endOffset, highWatermark, true, true)));
        cuts.onReplicas(replicas);
    }

    @Test
    void shouldReportARemovalBelowTheHighWatermark() {
        see(List.of(1), 9, 7);
        see(List.of(1), 7, 7);
        assertThat(violations.isEmpty()).isTrue();

        see(List.of(1), 6, 6);
        assertThat(violations.isEmpty()).isFalse();
    }

    @Test
    void shouldAllowADamagedReplicaThatIsNotInSyncToBeCopiedAgain() {
        cuts.onDamage(PARTITION, BROKER);
        see(List.of(1), 9, 7);
        see(List.of(1), 0, 0);
        see(List.of(1), 5, 5);
        assertThat(violations.isEmpty()).isTrue();
    }

    @Test
    void shouldReportThatADamagedReplicaIsInSyncWithoutItsRecords() {
        cuts.onDamage(PARTITION, BROKER);
        see(List.of(1, BROKER), 9, 7);
        see(List.of(1, BROKER), 0, 0);
        assertThat(violations.isEmpty()).isFalse();
    }

    @Test
    void shouldReportThatADamagedReplicaRemovesOnlyItsEnd() {
        cuts.onDamage(PARTITION, BROKER);
        see(List.of(1), 9, 7);
        see(List.of(1), 6, 7);
        assertThat(violations.isEmpty()).isFalse();
    }
}
