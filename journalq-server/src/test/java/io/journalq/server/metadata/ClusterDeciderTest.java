package io.journalq.server.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.metadata.PartitionDecider.Recovery;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.metadata.partition.InSyncProposal.Member;
import io.journalq.server.metadata.partition.PartitionImage;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The brokers that are fenced, and the leaders that are elected. */
class ClusterDeciderTest {
    private static final Uuid ORDERS = new Uuid(1, 1);
    private static final Uuid NEW = new Uuid(1, 2);
    private static final int LEADER = 1;

    private int restarts;

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
        return new InSyncProposal(
                ORDERS,
                0,
                partition().leaderEpoch(),
                partition().partitionEpoch(),
                Arrays.stream(nodeIds)
                        .mapToObj(nodeId -> new Member(nodeId, epoch(nodeId)))
                        .toList());
    }

    private void apply(Decision decision) {
        assertThat(decision.error()).as(decision.reason()).isEqualTo(ErrorCode.NONE);
        machine.replay(decision.records());
    }

    private PartitionImage partition(int number) {
        return machine.image().topic(ORDERS).partitions().get(number);
    }

    @Test
    void shouldElectOtherInSyncReplicasInTheSameBatchWhenLeadersAreFenced() {
        apply(machine.cluster().fence(List.of(1, 2)));

        assertThat(machine.image().brokers()).extracting(BrokerImage::fenced).containsExactly(true, true, false);
        for (int number = 0; number < 2; number++) {
            assertThat(partition(number).leader()).isEqualTo(3);
            assertThat(partition(number).leaderEpoch()).isEqualTo(1);
            assertThat(partition(number).inSyncReplicas()).containsExactly(3);
            assertThat(partition(number).eligibleLeaders()).isEmpty();
        }

        // and nobody leads when the last one is gone
        apply(machine.cluster().fence(List.of(3)));
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
        assertThat(partition().inSyncReplicas()).isEmpty();
        assertThat(partition().eligibleLeaders()).containsExactly(3);

        // and only that one can lead again
        apply(machine.cluster().unfence(1, epoch(1)));
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
        apply(machine.cluster().unfence(3, epoch(3)));
        assertThat(partition().leader()).isEqualTo(3);
        assertThat(partition().inSyncReplicas()).containsExactly(3);
    }

    @Test
    void shouldKeepReplicasEligibleWhenFewerAreInSyncThanRequired() {
        apply(machine.alterTopicConfig("orders", Map.of("min.insync.replicas", "2")));
        apply(machine.cluster().fence(List.of(2)));
        assertThat(partition().eligibleLeaders()).isEmpty();
        apply(machine.cluster().fence(List.of(3)));
        assertThat(partition().inSyncReplicas()).containsExactly(1);
        assertThat(partition().eligibleLeaders()).containsExactly(3);

        apply(machine.cluster().fence(List.of(1)));
        apply(machine.cluster().unfence(2, epoch(2)));
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
        apply(machine.cluster().unfence(3, epoch(3)));
        assertThat(partition().leader()).isEqualTo(3);
        assertThat(partition().eligibleLeaders()).containsExactly(1);
    }

    @Test
    void shouldNotElectAReplicaThatLeftBeforeFewerInSyncReplicasWereRequired() {
        // given a follower that is live and cannot follow, so that its leader accepts nothing
        apply(machine.alterTopicConfig("orders", Map.of("min.insync.replicas", "2")));
        apply(machine.cluster().fence(List.of(3)));
        apply(machine.partitions().alterPartition(1, epoch(1), proposal(1)));
        assertThat(partition().inSyncReplicas()).containsExactly(1);
        assertThat(partition().eligibleLeaders()).containsExactly(2);

        // when the leader may acknowledge alone from now on
        apply(machine.alterTopicConfig("orders", Map.of("min.insync.replicas", "1")));
        assertThat(partition().eligibleLeaders()).isEmpty();

        // then the follower, which lacks what was acknowledged since then, does not lead
        apply(machine.cluster().fence(List.of(1)));
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
        assertThat(partition().eligibleLeaders()).containsExactly(1);
    }

    @Test
    void shouldWaitForTheLeaderThatAcknowledgedAloneSinceFewerInSyncReplicasWereRequired() {
        // given two brokers that are down, and a leader that may acknowledge alone since then
        apply(machine.alterTopicConfig("orders", Map.of("min.insync.replicas", "2")));
        apply(machine.cluster().fence(List.of(3)));
        apply(machine.cluster().fence(List.of(2)));
        apply(machine.alterTopicConfig("orders", Map.of("min.insync.replicas", "1")));

        // when it fails before another one has caught up
        apply(machine.cluster().fence(List.of(1)));
        apply(machine.cluster().unfence(2, epoch(2)));

        // then nobody else leads
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
        assertThat(partition().eligibleLeaders()).containsExactly(1);
    }

    @Test
    void shouldNotElectAReplicaThatHasLostRecords() {
        // given a broker that is back, and eligible
        apply(machine.alterTopicConfig("orders", Map.of("min.insync.replicas", "2")));
        apply(machine.cluster().fence(List.of(3)));
        apply(machine.cluster().fence(List.of(2)));
        apply(machine.cluster().fence(List.of(1)));
        assertThat(partition().eligibleLeaders()).containsExactly(1, 2);

        // when one of its replicas has lost records
        apply(machine.cluster().loseRecords(2, epoch(2), Map.of(ORDERS, List.of(0, 7))));
        apply(machine.cluster().unfence(2, epoch(2)));

        // then it does not lead that partition, and the one that has all records does
        assertThat(partition(0).leader()).isEqualTo(PartitionImage.NO_LEADER);
        assertThat(partition(0).eligibleLeaders()).containsExactly(1);
        assertThat(partition(1).leader()).isEqualTo(2);
        apply(machine.cluster().unfence(1, epoch(1)));
        assertThat(partition(0).leader()).isEqualTo(1);
        assertThat(partition(0).recoveryEpoch()).isEqualTo(-1);

        // and another registration does not count
        assertThat(machine.cluster().loseRecords(2, epoch(2) + 1, Map.of()).error())
                .isEqualTo(ErrorCode.STALE_BROKER_EPOCH);
    }

    @Test
    void shouldElectAnotherReplicaWhenTheDiskOfTheLeaderFails() {
        // given a leader, and an in-sync replica of another partition, whose files cannot be written
        apply(machine.alterTopicConfig("orders", Map.of("min.insync.replicas", "2")));
        apply(machine.cluster().loseRecords(1, epoch(1), Map.of(ORDERS, List.of(0, 1))));

        // then another one leads, this one is not in sync, and its broker lives
        assertThat(partition(0).leader()).isEqualTo(2);
        assertThat(partition(0).inSyncReplicas()).containsExactly(2, 3);
        assertThat(partition(1).leader()).isEqualTo(2);
        assertThat(partition(1).leaderEpoch()).isZero();
        assertThat(partition(1).inSyncReplicas()).containsExactly(2, 3);
        assertThat(machine.image().broker(1).fenced()).isFalse();
    }

    @Test
    void shouldLeaveALeaderWhoseDiskFailsWhenNobodyElseCanLead() {
        apply(machine.cluster().fence(List.of(2, 3)));

        apply(machine.cluster().loseRecords(1, epoch(1), Map.of(ORDERS, List.of(0))));

        assertThat(partition().leader()).isEqualTo(1);
        assertThat(partition().inSyncReplicas()).containsExactly(1);
        assertThat(partition().recoveryEpoch()).isEqualTo(-1);
    }

    @Test
    void shouldRecoverWithTheLastReplicaAlthoughItHasLostRecords() {
        apply(machine.cluster().fence(List.of(2, 3)));
        apply(machine.cluster().fence(List.of(1)));
        assertThat(partition().eligibleLeaders()).containsExactly(1);

        apply(machine.cluster().loseRecords(1, epoch(1), Map.of(ORDERS, List.of(0))));

        assertThat(partition().eligibleLeaders()).isEmpty();
        recover(1);
        assertThat(partition().leader()).as("it is not back").isEqualTo(PartitionImage.NO_LEADER);
        apply(machine.cluster().unfence(1, epoch(1)));
        recover(1);
        assertThat(partition().leader()).isEqualTo(1);
        assertThat(partition().recoveryEpoch()).isEqualTo(partition().leaderEpoch());
    }

    /** The replica with the most records leads, as far as it is known now. */
    private void recover(int leader) {
        Map<Integer, Long> epochs = Map.of(1, epoch(1), 2, epoch(2), 3, epoch(3));
        apply(machine.partitions().recover(List.of(recovery(leader)), epochs));
    }

    private Recovery recovery(int leader) {
        return new Recovery(ORDERS, 0, partition().partitionEpoch(), leader);
    }

    @Test
    void shouldRecoverAtOnceWhenThereIsOneReplica() {
        Uuid single = new Uuid(3, 3);
        apply(machine.createTopic(new TopicSpec("single", -1, -1, List.of(List.of(2)), Map.of()), single));
        apply(machine.cluster().fence(List.of(2)));
        apply(machine.cluster().loseRecords(2, epoch(2), Map.of(single, List.of(0))));

        apply(machine.cluster().unfence(2, epoch(2)));

        PartitionImage recovered = machine.image().topic(single).partitions().get(0);
        assertThat(recovered.leader()).isEqualTo(2);
        assertThat(recovered.recoveryEpoch()).isEqualTo(recovered.leaderEpoch());
    }

    @Test
    void shouldNotRecoverWhenAReplicaMayHaveLostMoreSinceTheComparison() {
        // given a replica that was not eligible any more
        apply(machine.beginTerm(1));
        apply(machine.cluster().fence(List.of(2, 3)));
        apply(machine.cluster().fence(List.of(1)));
        restart(1, -1);
        apply(machine.cluster().unfence(1, epoch(1)));
        apply(machine.cluster().unfence(2, epoch(2)));
        Map<Integer, Long> compared = Map.of(1, epoch(1), 2, epoch(2));
        Recovery found = recovery(2);

        // when it starts again
        restart(2, epoch(2));
        apply(machine.cluster().unfence(2, epoch(2)));
        apply(machine.partitions().recover(List.of(found), compared));
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);

        // and when the partition has changed
        recover(2);
        assertThat(partition().leader()).isEqualTo(2);
        int epoch = partition().leaderEpoch();
        apply(machine.partitions().recover(List.of(found), compared));

        // then
        assertThat(partition().leaderEpoch()).isEqualTo(epoch);
    }

    /** Another process of a broker registers. */
    private void restart(int nodeId, long previousEpoch) {
        apply(machine.registrations().register(nextProcess(nodeId), previousEpoch));
    }

    private BrokerRegistration nextProcess(int nodeId) {
        BrokerRegistration known = machine.image().broker(nodeId).registration();
        return new BrokerRegistration(
                nodeId,
                new Uuid(7, ++restarts),
                known.listeners(),
                known.rack(),
                known.features(),
                known.logDirectories());
    }

    @Test
    void shouldRefuseALateRegistrationOfAnEarlierProcessWhenTheNewerOneIsLive() {
        // given a process that is live, and the request of an earlier one, which named the same registration
        apply(machine.beginTerm(1));
        long named = epoch(2);
        BrokerRegistration earlier = nextProcess(2);
        BrokerRegistration newer = nextProcess(2);
        apply(machine.cluster().fence(List.of(2, 3)));
        restart(3, epoch(3));
        apply(machine.registrations().register(newer, named));
        apply(machine.cluster().unfence(2, epoch(2)));

        // when it arrives
        for (long late : new long[] {named, BrokerRegistration.afterPowerLoss(named)}) {
            Decision decision = machine.registrations().register(earlier, late);
            assertThat(decision.error()).isEqualTo(ErrorCode.STALE_BROKER_EPOCH);
            assertThat(decision.records()).isEmpty();
        }

        // then the newer one repeats its registration without a change, and the next one replaces it
        assertThat(machine.registrations().register(newer, named).records()).isEmpty();
        BrokerRegistration next = nextProcess(2);
        long last = epoch(2);
        apply(machine.registrations().register(next, BrokerRegistration.afterPowerLoss(last)));
        assertThat(machine.image().broker(2).registration()).isEqualTo(next);

        // and so does one whose disks are older, when the last one is fenced
        apply(machine.cluster().unfence(2, epoch(2)));
        BrokerRegistration restored = nextProcess(2);
        assertThat(machine.registrations().register(restored, named).error()).isEqualTo(ErrorCode.STALE_BROKER_EPOCH);
        apply(machine.cluster().fence(List.of(2)));
        apply(machine.registrations().register(restored, named));
        assertThat(machine.image().broker(2).registration()).isEqualTo(restored);
    }

    @Test
    void shouldTakeTheRegistrationOfTheControllersOwnProcessWhenTheLastOneIsStillLive() {
        apply(machine.beginTerm(1));
        restart(LEADER, epoch(LEADER));
        apply(machine.cluster().unfence(LEADER, epoch(LEADER)));

        BrokerRegistration restored = nextProcess(LEADER);
        apply(machine.registrations().register(restored, epoch(LEADER) - 1));

        assertThat(machine.image().broker(LEADER).registration()).isEqualTo(restored);
    }

    @Test
    void shouldLeadAgainWithoutARecoveryWhenTheLastInSyncReplicaHasLostNothing() {
        apply(machine.beginTerm(1));
        apply(machine.cluster().fence(List.of(2, 3)));
        restart(1, epoch(1));
        assertThat(partition().eligibleLeaders()).containsExactly(1);
        apply(machine.cluster().unfence(1, epoch(1)));
        assertThat(partition().leader()).isEqualTo(1);
        assertThat(partition().recoveryEpoch()).isEqualTo(PartitionImage.NO_RECOVERY);
    }

    @Test
    void shouldTrustAnEarlierRegistrationUntilALaterOneHasServed() {
        // given a process that ended before it was unfenced
        apply(machine.beginTerm(1));
        apply(machine.cluster().fence(List.of(2, 3)));
        long first = epoch(1);
        restart(1, first);
        assertThat(machine.image().broker(1).servedEpoch()).isEqualTo(first);
        MetadataMachine restored = new MetadataMachine(new MetadataMachine.Limits(LEADER, 1, 100, 250));
        restored.restore(machine.snapshot());
        assertThat(restored.image().broker(1)).isEqualTo(machine.image().broker(1));

        // when the next one does not know of it
        restart(1, first);

        // then it has lost nothing
        assertThat(partition().eligibleLeaders()).containsExactly(1);

        // but it has if the one before could acknowledge something
        apply(machine.cluster().unfence(1, epoch(1)));
        assertThat(machine.image().broker(1).servedEpoch()).isEqualTo(epoch(1));
        restart(1, first);
        assertThat(partition().eligibleLeaders()).isEmpty();
    }

    @Test
    void shouldRecoverOnlyWhenAllOfTheLastEligibleReplicasAreBackAfterTheyHaveLostRecords() {
        // given two eligible replicas
        apply(machine.beginTerm(1));
        apply(machine.alterTopicConfig("orders", Map.of("min.insync.replicas", "2")));
        apply(machine.cluster().fence(List.of(2)));
        apply(machine.cluster().fence(List.of(1, 3)));
        assertThat(partition().eligibleLeaders()).containsExactly(1, 3);

        // when one of them has lost records, the other one could still lead
        restart(1, -1);
        apply(machine.cluster().unfence(1, epoch(1)));
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
        assertThat(partition().eligibleLeaders()).containsExactly(3);

        // when that one has lost records, too
        restart(3, epoch(3) - 1);
        assertThat(partition().eligibleLeaders()).isEmpty();
        assertThat(partition().lastKnownEligible()).containsExactly(1, 3);
        apply(machine.cluster().unfence(2, epoch(2)));
        recover(3);
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
        apply(machine.cluster().unfence(3, epoch(3)));
        recover(3);

        // then
        assertThat(partition().leader()).isEqualTo(3);
        assertThat(partition().inSyncReplicas()).containsExactly(3);
        assertThat(partition().lastKnownEligible()).isEmpty();
        assertThat(partition().recoveryEpoch()).isEqualTo(partition().leaderEpoch());
        MetadataMachine restored = new MetadataMachine(new MetadataMachine.Limits(LEADER, 1, 100, 250));
        restored.restore(machine.snapshot());
        assertThat(restored.image().topic(ORDERS)).isEqualTo(machine.image().topic(ORDERS));
    }

    @Test
    void shouldWaitForAllInSyncReplicasThatHaveLostRecordsWhateverTheOrderInWhichTheyRegister() {
        // given a cluster that has lost its power. Nobody knows which machine was the first
        apply(machine.beginTerm(1));
        apply(machine.alterTopicConfig("orders", Map.of("min.insync.replicas", "2")));
        loseRecords(1);
        assertThat(partition().inSyncReplicas()).containsExactly(2, 3);
        loseRecords(2);
        assertThat(partition().leader()).isEqualTo(3);
        loseRecords(3);
        assertThat(partition().lastKnownEligible()).containsExactly(1, 2, 3);

        // when some of them can serve
        apply(machine.cluster().unfence(3, epoch(3)));
        recover(3);
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
        apply(machine.cluster().unfence(2, epoch(2)));
        recover(3);
        assertThat(partition().leader()).as("broker 1 may have most").isEqualTo(PartitionImage.NO_LEADER);

        // then the partition waits for the last one
        apply(machine.cluster().unfence(1, epoch(1)));
        recover(1);
        assertThat(partition().leader()).isEqualTo(1);
        assertThat(partition().lastKnownEligible()).isEmpty();
    }

    @Test
    void shouldForgetAReplicaThatHasLostRecordsWhenTheLeaderHasOutlivedIt() {
        // given a replica that has lost records, and others that may have lost theirs before
        apply(machine.beginTerm(1));
        loseRecords(3);
        assertThat(partition().lastKnownEligible()).containsExactly(3);
        apply(machine.cluster().fence(List.of(2)));
        assertThat(partition().leader()).isEqualTo(1);
        assertThat(partition().lastKnownEligible()).containsExactly(3);

        // when the leader proposes other in-sync replicas
        apply(machine.cluster().unfence(2, epoch(2)));
        apply(machine.partitions().alterPartition(1, epoch(1), proposal(1, 2)));
        assertThat(partition().lastKnownEligible()).isEmpty();

        // and they lose records later
        apply(machine.cluster().fence(List.of(2)));
        loseRecords(1);
        apply(machine.cluster().unfence(1, epoch(1)));
        recover(1);

        // then the first one does not matter
        assertThat(machine.image().broker(3).isLive()).isFalse();
        assertThat(partition().leader()).isEqualTo(1);
    }

    @Test
    void shouldNotWaitForAReplicaThatHasLostRecordsAndIsInSyncAgain() {
        apply(machine.beginTerm(1));
        loseRecords(3);
        apply(machine.cluster().unfence(3, epoch(3)));
        assertThat(partition().lastKnownEligible()).containsExactly(3);

        apply(machine.partitions().alterPartition(1, epoch(1), proposal(1, 2, 3)));

        assertThat(partition().lastKnownEligible()).isEmpty();
    }

    /** A broker registers after its machine has lost power. */
    private void loseRecords(int nodeId) {
        restart(nodeId, BrokerRegistration.afterPowerLoss(epoch(nodeId)));
    }

    @Test
    void shouldKeepAReplicaEligibleAfterAPowerLossOnlyWhenItsTopicIsConsistent() {
        // given a topic in mode consistent, whose replicas are a majority only together
        Uuid payments = new Uuid(2, 2);
        apply(machine.beginTerm(1));
        apply(machine.createTopic(
                new TopicSpec("payments", -1, -1, List.of(List.of(1, 2, 3)), Map.of("delivery.mode", "consistent")),
                payments));
        apply(machine.cluster().fence(List.of(2, 3)));
        assertThat(machine.image().topic(payments).partitions().get(0).eligibleLeaders())
                .containsExactly(2, 3);

        // when the machine of the last leader loses power
        long served = epoch(1);
        restart(1, BrokerRegistration.afterPowerLoss(served));

        // then it still has what was on its disk
        assertThat(machine.image().topic(payments).partitions().get(0).eligibleLeaders())
                .containsExactly(1, 2, 3);
        assertThat(partition().eligibleLeaders()).isEmpty();
        assertThat(partition().lastKnownEligible()).containsExactly(1);

        // also when that process has ended before it had noted its registration
        restart(1, BrokerRegistration.afterPowerLoss(served));
        assertThat(machine.image().topic(payments).partitions().get(0).eligibleLeaders())
                .containsExactly(1, 2, 3);

        // but not if the disk is as it was at an earlier registration
        restart(1, BrokerRegistration.afterPowerLoss(served - 1));
        assertThat(machine.image().topic(payments).partitions().get(0).eligibleLeaders())
                .containsExactly(2, 3);
    }

    @Test
    void shouldGiveLeadershipsBackWhenABrokerLacksMoreThanItsShare() {
        apply(machine.cluster().fence(List.of(1)));
        apply(machine.cluster().unfence(1, epoch(1)));
        assertThat(machine.cluster().balanceLeaders(10).records())
                .as("not in sync")
                .isEmpty();
        apply(machine.partitions().alterPartition(2, epoch(2), proposal(2, 3, 1)));

        assertThat(machine.cluster().balanceLeaders(100).records()).isEmpty();
        apply(machine.cluster().balanceLeaders(10));

        assertThat(partition().leader()).isEqualTo(1);
        assertThat(partition(1).leader()).isEqualTo(2);
    }

    @Test
    void shouldElectAReplicaWithRoomWhenTheDiskOfTheLeaderIsFull() {
        apply(machine.cluster().setFull(1, epoch(1), true));

        // then another one leads, and this one stays in sync
        assertThat(machine.image().broker(1).full()).isTrue();
        assertThat(machine.image().broker(1).isLive()).isTrue();
        assertThat(partition().leader()).isEqualTo(2);
        assertThat(partition().inSyncReplicas()).containsExactly(1, 2, 3);

        // and leaderships are not given back to it
        assertThat(machine.cluster().balanceLeaders(10).records()).isEmpty();

        // and the next one follows
        apply(machine.cluster().setFull(2, epoch(2), true));
        assertThat(partition(0).leader()).isEqualTo(3);
        assertThat(partition(1).leader()).isEqualTo(3);

        // and the last one leads on when none has room, until one has room again
        apply(machine.cluster().setFull(3, epoch(3), true));
        assertThat(partition().leader()).isEqualTo(3);
        apply(machine.cluster().setFull(1, epoch(1), false));
        assertThat(partition().leader()).isEqualTo(1);
        assertThat(machine.cluster().setFull(1, epoch(1), false).records()).isEmpty();
        assertThat(machine.cluster().setFull(1, epoch(1) + 1, true).error()).isEqualTo(ErrorCode.STALE_BROKER_EPOCH);
    }

    @Test
    void shouldLetABrokerWithoutRoomLeadWhatNoOtherOneCanLead() {
        apply(machine.cluster().setFull(1, epoch(1), true));
        apply(machine.cluster().fence(List.of(2, 3)));

        assertThat(partition().leader()).isEqualTo(1);
        assertThat(partition().inSyncReplicas()).containsExactly(1);
    }

    @Test
    void shouldElectAReplicaWithRoomWhenItJoinsALeaderThatHasNone() {
        // given a leader without room that is alone in sync
        apply(machine.cluster().fence(List.of(2, 3)));
        apply(machine.cluster().setFull(1, epoch(1), true));
        apply(machine.cluster().unfence(2, epoch(2)));
        apply(machine.cluster().unfence(3, epoch(3)));
        apply(machine.cluster().setFull(2, epoch(2), true));

        // when one without room has caught up
        apply(machine.partitions().alterPartition(1, epoch(1), proposal(1, 2)));
        // then
        assertThat(partition().leader()).isEqualTo(1);

        // and when one with room has
        apply(machine.partitions().alterPartition(1, epoch(1), proposal(1, 2, 3)));
        // then
        assertThat(partition().leader()).isEqualTo(3);
        assertThat(partition().leaderEpoch()).isEqualTo(1);
        assertThat(partition().inSyncReplicas()).containsExactly(1, 2, 3);
    }

    @Test
    void shouldElectReplicasWithRoomWhenTheLastControllerHasOnlyBegunToDoSo() {
        // given that only the first record was committed
        machine.replay(
                List.of(machine.cluster().setFull(1, epoch(1), true).records().get(0)));
        assertThat(partition().leader()).isEqualTo(1);

        // when
        apply(machine.cluster().completeElections());

        // then
        assertThat(partition().leader()).isEqualTo(2);
        assertThat(machine.cluster().completeElections().records()).isEmpty();
    }

    @Test
    void shouldLetAReplicaWithRoomLeadNewPartitions() {
        apply(machine.cluster().setFull(1, epoch(1), true));
        apply(machine.cluster().setFull(2, epoch(2), true));
        apply(machine.createTopic(new TopicSpec("new", -1, -1, List.of(List.of(1, 3), List.of(2, 1)), Map.of()), NEW));

        List<PartitionImage> partitions = machine.image().topic(NEW).partitions();
        assertThat(partitions).extracting(PartitionImage::leader).containsExactly(3, 2);
    }

    @Test
    void shouldKeepInASnapshotWhichBrokersHaveNoRoom() {
        apply(machine.cluster().setFull(2, epoch(2), true));

        MetadataMachine restored = new MetadataMachine(new MetadataMachine.Limits(1, 1, 100, 1_000));
        restored.restore(machine.snapshot());

        assertThat(restored.image().brokers()).extracting(BrokerImage::full).containsExactly(false, true, false);
    }
}
