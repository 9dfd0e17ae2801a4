package io.journalq.sim.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.sim.cluster.ClusterPartition;
import io.journalq.sim.world.Violations;
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

    private void acknowledgeOld(long offset, long runningMs) {
        ReplicaStatus replica = new ReplicaStatus(
                Uuid.ZERO, new TopicPartition("topic", 1), true, OLD_EPOCH, 7, 0, offset + 1, offset, true);
        check.onAcknowledged(PARTITION, 1, replica, offset, "old" + offset, 200, runningMs);
    }
}
