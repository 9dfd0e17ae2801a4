package io.journalq.server.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.metadata.PartitionDecider.ConfirmedReassignment;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.metadata.partition.InSyncProposal.Member;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.partition.Reassignment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Partitions move to other brokers: new replicas join first, and old ones leave when the controller has confirmed them. */
class ReassignmentTest {
    private static final Uuid ORDERS = new Uuid(1, 1);

    private final MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(1, 1, 100, 250));

    @BeforeEach
    void createTopic() {
        TestBrokers.register(machine, 1, 2, 3, 4, 5);
        create("orders", ORDERS, List.of(1, 2, 3), Map.of("min.insync.replicas", "2"));
    }

    private void create(String name, Uuid id, List<Integer> replicas, Map<String, String> configs) {
        apply(machine.createTopic(new TopicSpec(name, -1, -1, List.of(replicas), configs), id));
    }

    private PartitionImage partition() {
        return machine.image().topic(ORDERS).partitions().get(0);
    }

    private void apply(Decision decision) {
        assertThat(decision.error()).as(decision.reason()).isEqualTo(ErrorCode.NONE);
        machine.replay(decision.records());
    }

    private Decision reassign(Integer... target) {
        return machine.partitions().reassign("orders", 0, List.of(target), true);
    }

    /** All in-sync replicas were heard from. */
    private void complete() {
        apply(completed());
    }

    private Decision completed() {
        return completed(ORDERS, partition().partitionEpoch());
    }

    private Decision completed(Uuid topic, int partitionEpoch) {
        return machine.partitions().completeReassignments(List.of(new ConfirmedReassignment(topic, 0, partitionEpoch)));
    }

    /** The leader proposes these in-sync replicas. */
    private Decision propose(int... nodeIds) {
        return propose(ORDERS, nodeIds);
    }

    private Decision propose(Uuid topic, int... nodeIds) {
        PartitionImage partition = machine.image().topic(topic).partitions().get(0);
        return machine.partitions()
                .alterPartition(
                        partition.leader(),
                        epoch(partition.leader()),
                        new InSyncProposal(
                                topic,
                                0,
                                partition.leaderEpoch(),
                                partition.partitionEpoch(),
                                Arrays.stream(nodeIds)
                                        .mapToObj(nodeId -> new Member(nodeId, epoch(nodeId)))
                                        .toList()));
    }

    private long epoch(int nodeId) {
        return machine.image().broker(nodeId).epoch();
    }

    private void fence(Integer... nodeIds) {
        apply(machine.cluster().fence(List.of(nodeIds)));
    }

    @Test
    void shouldRemoveTheOldLeaderWhenAllNewReplicasAreInSyncAndConfirmed() {
        apply(reassign(4, 5, 2));

        // then the partition has the old and the new replicas, and goes on as before
        assertThat(partition().replicas()).containsExactly(4, 5, 2, 1, 3);
        assertThat(partition().reassignment()).isEqualTo(new Reassignment(List.of(4, 5), List.of(1, 3)));
        assertThat(partition().leader()).isEqualTo(1);
        assertThat(partition().leaderEpoch()).isZero();
        assertThat(partition().inSyncReplicas()).containsExactly(1, 2, 3);

        // when one of them has caught up
        apply(propose(1, 2, 3, 4));
        assertThat(completed().records()).isEmpty();

        // and the other one has, too
        apply(propose(1, 2, 3, 4, 5));
        assertThat(partition().replicas()).hasSize(5);
        int before = partition().partitionEpoch() - 1;
        assertThat(completed(ORDERS, before).records())
                .as("it has changed since its replicas were confirmed")
                .isEmpty();
        complete();

        // then the old ones leave, and a new one leads
        assertThat(partition().replicas()).containsExactly(4, 5, 2);
        assertThat(partition().inSyncReplicas()).containsExactly(2, 4, 5);
        assertThat(partition().leader()).isEqualTo(4);
        assertThat(partition().leaderEpoch()).isEqualTo(1);
        assertThat(partition().reassignment()).isEqualTo(Reassignment.NONE);
    }

    @Test
    void shouldLetAReplicaWithRoomLeadWhenTheLeaderLeaves() {
        apply(reassign(4, 5, 2));
        apply(propose(1, 2, 3, 4, 5));
        apply(machine.cluster().setFull(4, epoch(4), true));
        complete();

        assertThat(partition().leader()).isEqualTo(5);
        assertThat(partition().replicas()).containsExactly(4, 5, 2);
    }

    @Test
    void shouldBeginANewEpochOfTheSameLeaderWhenAnotherReplicaLeaves() {
        apply(reassign(1, 2, 4));
        apply(propose(1, 2, 3, 4));
        complete();

        assertThat(partition().leader()).isEqualTo(1);
        assertThat(partition().leaderEpoch())
                .as("late fetches of the removed replica are refused")
                .isEqualTo(1);
        assertThat(partition().replicas()).containsExactly(1, 2, 4);
    }

    @Test
    void shouldReturnToTheReplicasBeforeWhenItIsCancelled() {
        assertThat(machine.partitions().reassign("orders", 0, null, true).error())
                .isEqualTo(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS);
        apply(reassign(1, 4, 5));
        apply(propose(1, 2, 3, 4));

        apply(machine.partitions().reassign("orders", 0, null, true));

        assertThat(partition().replicas()).containsExactlyInAnyOrder(1, 2, 3);
        assertThat(partition().inSyncReplicas()).containsExactly(1, 2, 3);
        assertThat(partition().reassignment()).isEqualTo(Reassignment.NONE);
        assertThat(partition().leader()).isEqualTo(1);
    }

    @Test
    void shouldNeedTheInSyncReplicasThatRemainWhenAReplicaLeavesThatMayHaveTheOnlyCopy() {
        assertThat(needed()).isEmpty();
        apply(reassign(1, 4, 5));
        assertThat(needed()).as("none of those that leave has a copy").isEmpty();

        apply(propose(1, 2, 3, 4));
        assertThat(needed()).containsExactly(1, 2, 3);
        assertThat(machine.partitions().needed("orders", 0, List.of(3, 5))).containsExactly(1, 2, 3);
        assertThat(machine.partitions().needed("orders", 0, List.of(3, 4))).isEmpty();

        fence(2, 3);
        fence(4);
        assertThat(partition().eligibleLeaders()).contains(4);
        assertThat(needed()).containsExactly(1);
        assertThat(machine.partitions().needed("orders", 1, null)).isEmpty();
    }

    private List<Integer> needed() {
        return machine.partitions().needed("orders", 0, null);
    }

    @Test
    void shouldForgetTheFirstTargetWhenAnotherOneReplacesIt() {
        apply(reassign(1, 2, 4));

        apply(reassign(1, 5, 3));

        assertThat(partition().replicas()).containsExactly(1, 5, 3, 2);
        assertThat(partition().reassignment()).isEqualTo(new Reassignment(List.of(5), List.of(2)));
        apply(machine.partitions().reassign("orders", 0, null, true));
        assertThat(partition().replicas()).containsExactlyInAnyOrder(1, 2, 3);
    }

    @Test
    void shouldEndWhenTheTargetIsInSyncAndConfirmed() {
        apply(reassign(3, 2));
        assertThat(partition().replicas()).containsExactly(3, 2, 1);
        assertThat(partition().leader()).isEqualTo(1);

        complete();

        assertThat(partition().replicas()).containsExactly(3, 2);
        assertThat(partition().leader()).isEqualTo(3);
        assertThat(partition().inSyncReplicas()).containsExactly(2, 3);
        assertThat(reassign(3, 2).records()).isEmpty();
    }

    @Test
    void shouldGoOnUntilEnoughTargetReplicasAreInSync() {
        // given a target with two replicas that are not in sync
        fence(2, 3);
        apply(reassign(4, 2, 3));
        apply(propose(1, 4));
        assertThat(completed().records()).as("min.insync.replicas=2").isEmpty();

        // when one of them is back
        apply(machine.cluster().unfence(2, epoch(2)));
        apply(propose(1, 4, 2));
        complete();

        // then
        assertThat(partition().replicas()).containsExactly(4, 2, 3);
        assertThat(partition().inSyncReplicas()).containsExactly(4, 2);
    }

    @Test
    void shouldNotRequireMoreInSyncReplicasWhileTheyAreAdded() {
        // given a topic with one replica and the configuration for three
        Uuid id = new Uuid(2, 2);
        create("small", id, List.of(1), Map.of("delivery.mode", "eventual", "min.insync.replicas", "2"));
        apply(machine.partitions().reassign("small", 0, List.of(1, 2, 3), true));

        // then its single in-sync replica is not one too few, so that the others are not eligible
        apply(propose(id, 1, 2));
        apply(propose(id, 1));
        PartitionImage partition = machine.image().topic(id).partitions().get(0);
        assertThat(partition.eligibleLeaders()).isEmpty();

        apply(propose(id, 1, 2, 3));
        apply(completed(id, machine.image().topic(id).partitions().get(0).partitionEpoch()));
        partition = machine.image().topic(id).partitions().get(0);
        assertThat(partition.replicas()).containsExactly(1, 2, 3);
        assertThat(partition.reassignment().isInProgress()).isFalse();
        assertThat(partition.leaderEpoch()).as("nobody has left").isZero();
    }

    @Test
    void shouldKeepTheLastReplicasThatAreEligible() {
        // given a partition whose only eligible replica is one that is being added
        apply(reassign(4, 5));
        apply(propose(1, 2, 3, 4));
        fence(2, 3);
        fence(1);
        assertThat(partition().inSyncReplicas()).containsExactly(4);
        assertThat(machine.partitions().reassign("orders", 0, null, true).error())
                .isEqualTo(ErrorCode.INVALID_REPLICA_ASSIGNMENT);
        fence(4);
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);

        // then it cannot leave
        assertThat(machine.partitions().reassign("orders", 0, null, true).error())
                .isEqualTo(ErrorCode.INVALID_REPLICA_ASSIGNMENT);
        assertThat(reassign(1, 2).error()).isEqualTo(ErrorCode.INVALID_REPLICA_ASSIGNMENT);
        apply(machine.cluster().unfence(4, epoch(4)));
        assertThat(partition().leader()).isEqualTo(4);
    }

    @Test
    void shouldEndWhenTheRemainingReplicaBecomesTheLeader() {
        // given a target that is not in sync, but eligible
        fence(2);
        fence(3);
        assertThat(partition().eligibleLeaders()).containsExactly(3);
        apply(machine.cluster().unfence(3, epoch(3)));
        apply(reassign(3));
        assertThat(completed().records()).isEmpty();

        // when the leader is gone
        fence(1);
        complete();

        assertThat(partition().replicas()).containsExactly(3);
        assertThat(partition().leader()).isEqualTo(3);
    }

    @Test
    void shouldRefuseTargetsThatAreNotPossible() {
        assertThat(reassign().error()).isEqualTo(ErrorCode.INVALID_REPLICA_ASSIGNMENT);
        assertThat(reassign(1, 1).error()).isEqualTo(ErrorCode.INVALID_REPLICA_ASSIGNMENT);
        assertThat(reassign(1, 9).reason()).contains("broker 9, but no such broker is registered");
        assertThat(machine.partitions()
                        .reassign("orders", 0, List.of(1, 2), false)
                        .error())
                .isEqualTo(ErrorCode.INVALID_REPLICATION_FACTOR);
        assertThat(machine.partitions().reassign("orders", 1, List.of(1), true).error())
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    @Test
    void shouldKeepTheDeliveryModeOfATopicWhenItGetsSeveralReplicas() {
        create("other", new Uuid(3, 3), List.of(1), Map.of());
        create("synced", new Uuid(4, 4), List.of(1), Map.of("flush.messages", "1"));
        create("consistent", new Uuid(5, 5), List.of(1), Map.of("delivery.mode", "consistent"));

        // when
        assertThat(machine.partitions().reassign("other", 0, List.of(1), true).records())
                .isEmpty();
        for (String topic : List.of("other", "synced", "consistent")) {
            apply(machine.partitions().reassign(topic, 0, List.of(2), true));
        }

        // then
        assertThat(modeOf("other")).isEqualTo("eventual");
        assertThat(modeOf("synced")).isEqualTo("consistent");
        assertThat(modeOf("consistent")).isEqualTo("consistent");
    }

    private String modeOf(String topic) {
        return machine.image().topic(topic).configs().get("delivery.mode");
    }

    @Test
    void shouldRestoreAReassignmentWhenASnapshotIsReplayed() {
        apply(reassign(4, 2));
        MetadataMachine other = new MetadataMachine(new MetadataMachine.Limits(1, 1, 100, 250));

        other.replay(machine.snapshot());

        assertThat(other.image().topic(ORDERS)).isEqualTo(machine.image().topic(ORDERS));
        assertThat(other.image().topic(ORDERS).partitions().get(0).reassignment())
                .isEqualTo(new Reassignment(List.of(4), List.of(1, 3)));
    }

    @Test
    void shouldPlaceNewPartitionsLikeTheTargetWhileReplicasMove() {
        apply(reassign(4, 5));

        apply(machine.createPartitions("orders", 2, List.of()));

        assertThat(machine.image().topic(ORDERS).partitions().get(1).replicas()).hasSize(2);
    }

    @Test
    void shouldRemoveABrokerOnlyWhenItIsStoppedAndHasNoReplicas() {
        assertThat(machine.cluster().unregister(5).reason()).contains("is running");
        assertThat(machine.cluster().unregister(9).error()).isEqualTo(ErrorCode.BROKER_ID_NOT_REGISTERED);
        fence(3);
        assertThat(machine.cluster().unregister(3).reason()).contains("a replica of 1 partition;", "cluster drain 3");
        apply(reassign(1, 2));
        complete();

        apply(machine.cluster().unregister(3));

        assertThat(machine.image().broker(3)).isNull();
        TestBrokers.register(machine, 3);
        assertThat(machine.image().liveBroker(3)).isNotNull();
    }

    @Test
    void shouldForgetTheSettingsOfABrokerWhenItIsRemoved() {
        ResourceId broker5 = BrokerOverrides.of(5);
        ResourceId broker4 = BrokerOverrides.of(4);
        for (ResourceId resource : List.of(BrokerOverrides.EVERY_BROKER, broker4, broker5)) {
            machine.replay(List.of(MetadataSnapshot.resourceRecord(resource, "log.cleaner.backoff.ms", "20")));
        }
        fence(5);

        apply(machine.cluster().unregister(5));

        TestBrokers.register(machine, 5);
        assertThat(machine.image().resources().of(broker5)).isEmpty();
        assertThat(machine.image().resources().byResource()).containsOnlyKeys(BrokerOverrides.EVERY_BROKER, broker4);
    }
}
