package io.journalq.server.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.metadata.partition.InSyncProposal.Member;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.record.BrokerChangeRecord;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The in-sync replicas that leaders propose, and elections of single partitions. */
class PartitionDeciderTest {
    private static final Uuid ORDERS = new Uuid(1, 1);
    private static final int LEADER = 1;

    private final MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(LEADER, 1, 100, 250));

    @BeforeEach
    void createTopic() {
        TestBrokers.register(machine, 1, 2, 3);
        machine.replay(machine.createTopic(
                        new TopicSpec("orders", -1, -1, List.of(List.of(1, 2, 3), List.of(2, 3, 1)), Map.of()), ORDERS)
                .records());
    }

    private PartitionImage partition() {
        return machine.image().topic(ORDERS).partitions().get(0);
    }

    private long epoch(int nodeId) {
        return machine.image().broker(nodeId).epoch();
    }

    private InSyncProposal proposal(int... nodeIds) {
        return proposalAt(partition().leaderEpoch(), partition().partitionEpoch(), nodeIds);
    }

    private InSyncProposal proposalAt(int leaderEpoch, int partitionEpoch, int... nodeIds) {
        return new InSyncProposal(
                ORDERS,
                0,
                leaderEpoch,
                partitionEpoch,
                Arrays.stream(nodeIds)
                        .mapToObj(nodeId -> new Member(nodeId, epoch(nodeId)))
                        .toList());
    }

    private Decision decide(InSyncProposal proposal) {
        return machine.partitions().alterPartition(LEADER, epoch(LEADER), proposal);
    }

    private void accept(InSyncProposal proposal) {
        Decision decision = decide(proposal);
        assertThat(decision.error()).as(decision.reason()).isEqualTo(ErrorCode.NONE);
        machine.replay(decision.records());
    }

    private void apply(Decision decision) {
        assertThat(decision.error()).as(decision.reason()).isEqualTo(ErrorCode.NONE);
        machine.replay(decision.records());
    }

    @Test
    void shouldElectAReplicaThatIsNotInSyncOnlyWhenTheTopicAllowsIt() {
        apply(machine.cluster().fence(List.of(2)));
        apply(machine.cluster().fence(List.of(1, 3)));
        apply(machine.cluster().unfence(2, epoch(2)));
        assertThat(machine.partitions().electUncleanLeader("orders", 0).error())
                .isEqualTo(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE);

        apply(machine.alterTopicConfig("orders", Map.of("unclean.leader.election.enable", "true")));
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
        apply(machine.partitions().electUncleanLeader("orders", 0));

        assertThat(partition().leader()).isEqualTo(2);
        assertThat(partition().inSyncReplicas()).containsExactly(2);
        assertThat(partition().recoveryEpoch()).isEqualTo(partition().leaderEpoch());
        assertThat(machine.partitions().electUncleanLeader("orders", 0).error())
                .isEqualTo(ErrorCode.ELECTION_NOT_NEEDED);
    }

    @Test
    void shouldGiveTheLeadershipToThePreferredLeaderOnlyWhenItIsInSync() {
        assertThat(machine.partitions().electPreferredLeader("orders", 0).error())
                .isEqualTo(ErrorCode.ELECTION_NOT_NEEDED);
        apply(machine.cluster().fence(List.of(1)));
        assertThat(partition().leader()).isEqualTo(2);
        apply(machine.cluster().unfence(1, epoch(1)));
        assertThat(machine.partitions().electPreferredLeader("orders", 0).error())
                .isEqualTo(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE);
        InSyncProposal joining = proposal(2, 3, 1);
        apply(machine.partitions().alterPartition(2, epoch(2), joining));
        apply(machine.partitions().electPreferredLeader("orders", 0));
        assertThat(partition().leader()).isEqualTo(1);
        assertThat(partition().inSyncReplicas()).containsExactly(2, 3, 1);
        assertThat(machine.partitions().electPreferredLeader("orders", 7).error())
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    @Test
    void shouldRefuseABrokerThatIsAboutToStopAsAnInSyncReplica() {
        apply(machine.cluster().leave(3, epoch(3)));
        assertThat(partition().inSyncReplicas()).containsExactly(1, 2);
        assertThat(decide(proposal(1, 2, 3)).error()).isEqualTo(ErrorCode.INELIGIBLE_REPLICA);
    }

    @Test
    void shouldChangeTheInSyncReplicasAndThePartitionEpochOnlyWhenTheLeaderProposes() {
        PartitionImage before = partition();
        PartitionImage other = machine.image().topic(ORDERS).partitions().get(1);

        accept(proposal(1, 3));
        accept(proposal(1, 3, 2));

        assertThat(before.inSyncReplicas()).containsExactly(1, 2, 3);
        assertThat(partition().inSyncReplicas()).containsExactly(1, 3, 2);
        assertThat(partition().leaderEpoch()).isEqualTo(before.leaderEpoch());
        assertThat(partition().partitionEpoch()).isEqualTo(before.partitionEpoch() + 2);
        assertThat(machine.image().topic(ORDERS).partitions().get(1)).isEqualTo(other);
    }

    @Test
    void shouldChangeNothingWhenTheProposalIsTheCurrentState() {
        assertThat(decide(proposal(1, 2, 3)).records()).isEmpty();
    }

    @Test
    void shouldTellWhichSideIsBehindWhenEpochsDiffer() {
        accept(proposal(1, 2));
        PartitionImage now = partition();

        // a leader that knows what this controller does not
        assertThat(decide(proposalAt(now.leaderEpoch() + 1, 0, 1)).error()).isEqualTo(ErrorCode.NOT_CONTROLLER);
        assertThat(decide(proposalAt(now.leaderEpoch(), now.partitionEpoch() + 1, 1))
                        .error())
                .isEqualTo(ErrorCode.NOT_CONTROLLER);

        // a leader that does not know what this controller knows
        assertThat(decide(proposalAt(now.leaderEpoch(), now.partitionEpoch() - 1, 1))
                        .error())
                .isEqualTo(ErrorCode.INVALID_UPDATE_VERSION);
        assertThat(decide(proposalAt(now.leaderEpoch() - 1, now.partitionEpoch(), 1))
                        .error())
                .isEqualTo(ErrorCode.FENCED_LEADER_EPOCH);
    }

    @Test
    void shouldRefuseBrokersThatMayNotBeInSync() {
        accept(proposal(1));
        long epochOfFormerProcess = epoch(3) - 1;
        machine.replay(
                List.of(new BrokerChangeRecord().setNodeId(2).setEpoch(epoch(2)).setFenced(true)));

        assertThat(decide(proposal(1, 2)).error()).as("fenced").isEqualTo(ErrorCode.INELIGIBLE_REPLICA);
        InSyncProposal stale = new InSyncProposal(
                ORDERS,
                0,
                partition().leaderEpoch(),
                partition().partitionEpoch(),
                List.of(new Member(1, epoch(1)), new Member(3, epochOfFormerProcess)));
        assertThat(decide(stale).error()).as("another process").isEqualTo(ErrorCode.INELIGIBLE_REPLICA);
        accept(proposal(1, 3));
    }

    @Test
    void shouldRefuseProposalsThatNoLeaderWouldMake() {
        TestBrokers.register(machine, 4);
        for (InSyncProposal wrong : List.of(proposal(1, 4), proposal(1, 1), proposal(2, 3), proposal())) {
            assertThat(decide(wrong).error()).as("%s", wrong).isEqualTo(ErrorCode.INVALID_REQUEST);
        }
        assertThat(machine.partitions()
                        .alterPartition(2, epoch(2), proposal(1, 2))
                        .error())
                .as("not the leader")
                .isEqualTo(ErrorCode.INVALID_REQUEST);
        assertThat(machine.partitions()
                        .alterPartition(LEADER, epoch(LEADER) - 1, proposal(1, 2))
                        .error())
                .isEqualTo(ErrorCode.STALE_BROKER_EPOCH);
        InSyncProposal lost = new InSyncProposal(new Uuid(7, 7), 0, 0, 0, List.of());
        assertThat(decide(lost).error()).isEqualTo(ErrorCode.UNKNOWN_TOPIC_ID);
        assertThat(decide(new InSyncProposal(ORDERS, 2, 0, 0, List.of())).error())
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        assertThat(decide(new InSyncProposal(ORDERS, -1, 0, 0, List.of())).error())
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    @Test
    void shouldNameTheChangedPartitionsInTheDelta() {
        MetadataDelta delta = machine.replay(decide(proposal(1, 2)).records());

        assertThat(delta.topics()).hasSize(1);
        assertThat(delta.topics().get(0).partitions()).singleElement().satisfies(changed -> {
            assertThat(changed.number()).isZero();
            assertThat(changed.before().inSyncReplicas()).containsExactly(1, 2, 3);
            assertThat(changed.now().inSyncReplicas()).containsExactly(1, 2);
        });
        assertThat(MetadataDelta.ofAll(machine.image()).topics().get(0).partitions())
                .hasSize(2)
                .allSatisfy(changed -> assertThat(changed.before()).isNull());
        MetadataDelta removal = machine.replay(machine.deleteTopic(ORDERS).records());
        assertThat(removal.topics().get(0).partitions()).isEmpty();
    }

    @Test
    void shouldRestoreThePartitionWhenItsSnapshotIsReplayed() {
        accept(proposal(1, 2));
        accept(proposal(1));
        MetadataMachine other = new MetadataMachine(new MetadataMachine.Limits(LEADER, 1, 100, 250));

        other.replay(machine.snapshot());

        assertThat(other.image().topic(ORDERS)).isEqualTo(machine.image().topic(ORDERS));
        assertThat(other.image().topic(ORDERS).partitions().get(0).partitionEpoch())
                .isEqualTo(2);
    }
}
