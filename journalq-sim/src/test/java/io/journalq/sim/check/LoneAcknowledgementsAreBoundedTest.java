package io.journalq.sim.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.sim.cluster.ClusterPartition;
import io.journalq.sim.world.Violations;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoneAcknowledgementsAreBoundedTest {
    private static final int OLD_EPOCH = 2;
    private static final int NEW_EPOCH = 6;
    private static final int OFFSET = 24;
    private static final int BOUND_MS = 1_000;
    private static final ClusterPartition PARTITION =
            new ClusterPartition("topic", 1, DeliveryMode.EVENTUAL, true, false);

    private final Violations violations = new Violations();
    private final LoneAcknowledgementsAreBounded check = new LoneAcknowledgementsAreBounded(
            violations, new PowerLosses(() -> MetadataImage.EMPTY, BOUND_MS), BOUND_MS);

    @Test
    void shouldAllowThatALeaderThatWasFrozenAcknowledgesWhatOthersHaveReplaced() {
        check.onRead(PARTITION, OFFSET, NEW_EPOCH, "new", 100);
        acknowledgeOld(OFFSET, 50);
        check.onReadBack();
        check.onRead(PARTITION, OFFSET, NEW_EPOCH, "new", 300);
        check.check();

        assertThat(violations.found()).isEmpty();
    }

    @Test // seed 1310240 of 5 brokers
    void shouldAllowThatALeaderThatWasFrozenAcknowledgesInAnEpochThatIsOver() {
        // given a record of the first epoch, which a consumer gets from the third leader
        check.onMetadata(metadata(new PartitionState().setLeaderEpoch(NEW_EPOCH).setReplicas(List.of(1, 2))), 0);
        check.onRead(PARTITION, OFFSET, OLD_EPOCH - 1, "first", 100);

        // when the second leader acknowledges another record there
        acknowledgeOld(OFFSET, 50);

        // then the record of the third leader counts
        check.onRead(PARTITION, OFFSET, OLD_EPOCH - 1, "first", 300);
        check.check();
        assertThat(violations.found()).isEmpty();
    }

    @Test
    void shouldReportASeenRecordThatTheCurrentLeaderReplaces() {
        check.onMetadata(metadata(new PartitionState().setLeaderEpoch(OLD_EPOCH).setReplicas(List.of(1, 2))), 0);
        check.onRead(PARTITION, OFFSET, OLD_EPOCH - 1, "first", 100);
        acknowledgeOld(OFFSET, 50);

        assertThat(violations.found()).singleElement().asString().contains("has lost what a consumer has seen");
    }

    @Test
    void shouldCountWhatItAcknowledgesLateAsLost() {
        check.onRead(PARTITION, OFFSET, NEW_EPOCH, "new", 100);
        check.onRead(PARTITION, OFFSET + 1, NEW_EPOCH, "newer", 100);
        acknowledgeOld(OFFSET, 0);
        acknowledgeOld(OFFSET + 1, BOUND_MS + 1);

        assertThat(violations.found())
                .singleElement()
                .asString()
                .contains("has lost records that were acknowledged within more than");
    }

    @Test
    void shouldReportASeenRecordThatOneOfAnOlderEpochReplaces() {
        check.onRead(PARTITION, OFFSET, NEW_EPOCH, "new", 100);
        check.onRead(PARTITION, OFFSET, OLD_EPOCH, "old", 200);

        assertThat(violations.found()).singleElement().asString().contains("has lost what a consumer has seen");
    }

    @Test
    void shouldAllowOnlyTheLossOfWhatWasNewWhenAMachineLostPower() {
        // given a record that was seen long before a power loss, and one that was acknowledged shortly before it
        PowerLosses losses = new PowerLosses(() -> recovered(), BOUND_MS);
        LoneAcknowledgementsAreBounded all = new LoneAcknowledgementsAreBounded(violations, losses, BOUND_MS);
        all.onRead(PARTITION, OFFSET, OLD_EPOCH, "settled", 2_000);
        all.onRead(PARTITION, OFFSET + 1, OLD_EPOCH, "new", 4_000);
        losses.add(1, 4_500, 4_600);

        // when both are seen again after it, and then are gone
        all.onRead(PARTITION, OFFSET, OLD_EPOCH, "settled", 5_000);
        all.onRead(PARTITION, OFFSET + 1, OLD_EPOCH, "new", 5_000);
        all.onRead(PARTITION, OFFSET + 1, NEW_EPOCH, "other", 6_000);

        // then only the first must not be
        assertThat(violations.found()).isEmpty();
        all.onRead(PARTITION, OFFSET, NEW_EPOCH, "another", 6_000);
        assertThat(violations.found()).singleElement().asString().contains("id=settled");
    }

    @Test // seed 1901224 of 5 brokers
    void shouldAllowThatAReplacedLeaderReturnsWhatTheNextOneHasJustLost() {
        // given a leader that was replaced by one that lost power before it served anybody
        PowerLosses losses = new PowerLosses(() -> recovered(), BOUND_MS);
        LoneAcknowledgementsAreBounded all = new LoneAcknowledgementsAreBounded(violations, losses, BOUND_MS);
        all.onMetadata(metadata(new PartitionState().setLeaderEpoch(OLD_EPOCH).setReplicas(List.of(1, 2))), 2_000);
        losses.add(1, 2_030, 2_036);

        // when it returns a record that all replicas had, and one much later
        all.onRead(PARTITION, OFFSET, OLD_EPOCH - 1, "returned at once", 2_044);
        all.onRead(PARTITION, OFFSET + 1, OLD_EPOCH - 1, "returned late", 3_000);
        all.onRead(PARTITION, OFFSET, NEW_EPOCH, "other", 4_000);

        // then only the first may be gone
        assertThat(violations.found()).isEmpty();
        all.onRead(PARTITION, OFFSET + 1, NEW_EPOCH, "another", 4_000);
        assertThat(violations.found()).singleElement().asString().contains("returned late");
    }

    /** The metadata of a partition that has begun an epoch without some acknowledged records. */
    private static MetadataImage recovered() {
        return metadata(new PartitionState()
                .setLeader(1)
                .setReplicas(List.of(1, 2))
                .setInSyncReplicas(List.of(1))
                .setRecoveryEpoch(NEW_EPOCH));
    }

    private static MetadataImage metadata(PartitionState state) {
        Uuid topic = new Uuid(1, 1);
        MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(0, 1, 100, 100));
        machine.replay(List.of(
                new TopicRecord().setTopicId(topic).setName(PARTITION.topic()),
                new PartitionsRecord().setTopicId(topic).setPartitions(List.of(state, state))));
        return machine.image();
    }

    private void acknowledgeOld(long offset, long runningMs) {
        ReplicaStatus replica = new ReplicaStatus(
                Uuid.ZERO, new TopicPartition("topic", 1), true, OLD_EPOCH, 7, 0, offset + 1, offset, true, true);
        check.onAcknowledged(PARTITION, 1, replica, offset, "old" + offset, 200, runningMs);
    }
}
