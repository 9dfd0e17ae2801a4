package io.journalq.server.metadata.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.metadata.partition.LeaderElection.Brokers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which replicas may leave, and who may lead afterwards, in states that few clusters get into. */
class ReassignmentStepsTest {
    private static final int REQUIRED = 1;

    private final Set<Integer> stopping = new HashSet<>();
    private final Set<Integer> withLosses = new HashSet<>();
    private final Brokers brokers = new Brokers() {
        @Override
        public boolean isLive(int nodeId) {
            return true;
        }

        @Override
        public boolean stays(int nodeId) {
            return !stopping.contains(nodeId);
        }

        @Override
        public boolean hasRoom(int nodeId) {
            return true;
        }

        @Override
        public boolean keepsRecords(int nodeId) {
            return !withLosses.contains(nodeId);
        }
    };

    /** A partition on brokers 1, 2 and 3 that gets these replicas, too. */
    private static PartitionImage moving(
            int leader, List<Integer> inSync, List<Integer> lastKnownEligible, int... more) {
        List<Integer> adding = Arrays.stream(more).boxed().toList();
        List<Integer> replicas = new ArrayList<>(adding);
        replicas.addAll(List.of(1, 2, 3));
        return new PartitionImage(
                leader,
                5,
                7,
                replicas,
                inSync,
                List.of(),
                lastKnownEligible,
                PartitionImage.NO_RECOVERY,
                new Reassignment(adding, List.of(1, 2, 3)));
    }

    @Test
    void shouldKeepAReplicaThatMayHaveMostOfTheRecordsAlthoughItHasLostSome() {
        // given nodes that have all lost records, one of them a new one
        PartitionImage partition = moving(PartitionImage.NO_LEADER, List.of(), List.of(1, 4), 4);

        assertThat(ReassignmentSteps.cancel(partition, REQUIRED, brokers)).isNull();
        assertThat(ReassignmentSteps.begin(partition, List.of(2), REQUIRED, brokers))
                .isNull();
    }

    @Test
    void shouldNeedTheInSyncReplicasWhenAReplicaLeavesThatMayHaveMostOfTheRecords() {
        PartitionImage partition = moving(1, List.of(1, 2), List.of(4), 4);

        assertThat(ReassignmentSteps.needed(partition, null)).containsExactly(1, 2);
    }

    @Test
    void shouldLetNoReplicaLeadThatIsAboutToStopWhenTheLeaderLeaves() {
        PartitionImage partition = moving(1, List.of(1, 4, 5), List.of(), 4, 5);
        stopping.add(4);

        assertThat(ReassignmentSteps.complete(partition, REQUIRED, brokers).leader())
                .isEqualTo(5);

        stopping.add(5);
        assertThat(ReassignmentSteps.complete(partition, REQUIRED, brokers))
                .as("the leader cannot leave")
                .isSameAs(partition);
    }

    @Test
    void shouldNotWaitForAReplicaThatIsInSync() {
        // given a node that has lost records, and is in sync nevertheless
        PartitionImage partition = new PartitionImage(2, 5, List.of(1, 2, 3), List.of(1, 2, 3));
        withLosses.add(3);

        PartitionImage after = partition.after(LeaderElection.electPreferred(partition, REQUIRED, brokers));

        assertThat(after.leader()).isEqualTo(1);
        assertThat(after.inSyncReplicas()).containsExactly(1, 2, 3);
        assertThat(after.lastKnownEligible()).isEmpty();
    }
}
