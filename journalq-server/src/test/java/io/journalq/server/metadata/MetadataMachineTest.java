package io.journalq.server.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.record.BrokerChangeRecord;
import io.journalq.server.metadata.record.BrokerRecord;
import io.journalq.server.metadata.record.ConfigRecord;
import io.journalq.server.metadata.record.NodeStartedRecord;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.RemoveTopicRecord;
import io.journalq.server.metadata.record.TopicRecord;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MetadataMachineTest {
    private static final int NODE = 7;
    private static final Uuid ID = new Uuid(1, 1);
    private static final Uuid OTHER_ID = new Uuid(1, 2);

    private final MetadataMachine machine = new MetadataMachine(new MetadataMachine.Limits(NODE, 3, 100, 250));

    MetadataMachineTest() {
        TestBrokers.register(machine, NODE);
    }

    @Test
    void shouldChangeNothingWhenItOnlyDecides() {
        Decision decision = machine.createTopic(named("orders"), ID);

        assertThat(decision.accepted()).isTrue();
        assertThat(machine.image().topics()).isEmpty();
    }

    @Test
    void shouldHoldTheTopicByNameAndIdWhenItsRecordsAreReplayed() {
        apply(machine.createTopic(
                new TopicSpec("orders", 2, 1, List.of(), Map.of("retention.ms", "1000", "segment.bytes", "4096")), ID));

        TopicImage topic = machine.image().topic("orders");
        assertThat(topic).isEqualTo(machine.image().topic(ID));
        assertThat(topic.configs())
                .containsExactly(Map.entry("retention.ms", "1000"), Map.entry("segment.bytes", "4096"));
        assertThat(topic.partitions())
                .hasSize(2)
                .containsOnly(new PartitionImage(NODE, 0, List.of(NODE), List.of(NODE)));
    }

    @Test
    void shouldUseTheDefaultWhenNoNumberOfPartitionsIsGiven() {
        apply(machine.createTopic(named("orders"), ID));

        assertThat(machine.image().topic("orders").partitions()).hasSize(3);
    }

    @Test
    void shouldRefuseNamesThatCouldLeaveADirectoryOrBreakTheProtocol() {
        for (String name : List.of("", ".", "..", "../x", "a/b", "a\\b", "a b", "ä", "a\0", "a:b", "x".repeat(250))) {
            Decision decision = machine.createTopic(named(name), ID);
            assertThat(decision.error()).as("'%s'", name).isEqualTo(ErrorCode.INVALID_TOPIC_EXCEPTION);
            assertThat(decision.reason()).isNotBlank();
            assertThat(decision.records()).isEmpty();
        }
        assertThat(machine.createTopic(named("x".repeat(249)), ID).accepted()).isTrue();
        assertThat(machine.createTopic(named("..."), ID).accepted()).isTrue();
    }

    @Test
    void shouldRefuseANameThatExistsOrDiffersInDotsAndUnderscoresOnly() {
        apply(machine.createTopic(named("a.b"), ID));

        assertThat(machine.createTopic(named("a.b"), OTHER_ID).error()).isEqualTo(ErrorCode.TOPIC_ALREADY_EXISTS);
        Decision similar = machine.createTopic(named("a_b"), OTHER_ID);
        assertThat(similar.error()).isEqualTo(ErrorCode.INVALID_TOPIC_EXCEPTION);
        assertThat(similar.reason()).contains("'a.b'");
        apply(machine.deleteTopic(ID));
        assertThat(machine.createTopic(named("a_b"), OTHER_ID).accepted()).isTrue();
    }

    @Test
    void shouldRefuseMorePartitionsThanItsLimits() {
        assertThat(machine.createTopic(sized("a", 0), ID).error()).isEqualTo(ErrorCode.INVALID_PARTITIONS);
        assertThat(machine.createTopic(sized("a", -2), ID).error()).isEqualTo(ErrorCode.INVALID_PARTITIONS);
        assertThat(machine.createTopic(sized("a", 101), ID).error()).isEqualTo(ErrorCode.INVALID_PARTITIONS);
        assertThat(machine.createTopic(sized("a", Integer.MAX_VALUE), ID).error())
                .isEqualTo(ErrorCode.INVALID_PARTITIONS);
        apply(machine.createTopic(sized("a", 100), new Uuid(2, 1)));
        apply(machine.createTopic(sized("b", 100), new Uuid(2, 2)));

        Decision third = machine.createTopic(sized("c", 51), ID);

        assertThat(third.error()).isEqualTo(ErrorCode.POLICY_VIOLATION);
        assertThat(third.reason()).contains("max.partitions", "250", "200");
        assertThat(machine.createTopic(sized("c", 50), ID).accepted()).isTrue();
        apply(machine.deleteTopic(new Uuid(2, 2)));
        assertThat(machine.createTopic(sized("c", 100), ID).accepted()).isTrue();
    }

    @Test
    void shouldRefuseReplicasThatTheOneNodeCannotHold() {
        assertThat(machine.createTopic(new TopicSpec("a", 1, 2, List.of(), Map.of()), ID)
                        .error())
                .isEqualTo(ErrorCode.INVALID_REPLICATION_FACTOR);
        assertThat(machine.createTopic(new TopicSpec("a", 1, 0, List.of(), Map.of()), ID)
                        .error())
                .isEqualTo(ErrorCode.INVALID_REPLICATION_FACTOR);
        assertThat(machine.createTopic(assigned(List.of(List.of(NODE), List.of(8))), ID)
                        .error())
                .isEqualTo(ErrorCode.INVALID_REPLICA_ASSIGNMENT);
        assertThat(machine.createTopic(assigned(List.of(List.of())), ID).error())
                .isEqualTo(ErrorCode.INVALID_REPLICA_ASSIGNMENT);
        assertThat(machine.createTopic(assigned(List.of(List.of(NODE, NODE))), ID)
                        .error())
                .isEqualTo(ErrorCode.INVALID_REPLICA_ASSIGNMENT);
        assertThat(machine.createTopic(new TopicSpec("a", 2, -1, List.of(List.of(NODE)), Map.of()), ID)
                        .error())
                .isEqualTo(ErrorCode.INVALID_REQUEST);
        apply(machine.createTopic(assigned(List.of(List.of(NODE), List.of(NODE))), ID));
        assertThat(machine.image().topic("assigned").partitions()).hasSize(2);
    }

    @Test
    void shouldRefuseMoreReplicasThanThereAreBrokers() {
        Decision onOne = machine.createTopic(replicated(1, 2), ID);
        assertThat(onOne.reason())
                .isEqualTo("Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be"
                        + " reached because only 1 broker(s) are registered.");

        TestBrokers.register(machine, 8, 9);
        Decision onThree = machine.createTopic(replicated(1, 4), ID);
        assertThat(onThree.error()).isEqualTo(ErrorCode.INVALID_REPLICATION_FACTOR);
        assertThat(onThree.reason()).contains("only 3 broker(s) are registered");

        fence(NODE);
        fence(8);
        fence(9);
        Decision onNone = machine.createTopic(replicated(1, 1), ID);
        assertThat(onNone.error()).isEqualTo(ErrorCode.INVALID_REPLICATION_FACTOR);
        assertThat(onNone.reason()).contains("All brokers are currently fenced.");
    }

    @Test
    void shouldPlaceReplicasOfInternalTopicsOnFencedBrokersWhenTooFewAreLive() {
        TestBrokers.register(machine, 8, 9);
        fence(9);

        // when
        apply(machine.createTopic(new TopicSpec(InternalTopics.GROUPS, 4, TopicSpec.DEFAULT, List.of(), Map.of()), ID));

        // then
        assertThat(machine.image().topic(InternalTopics.GROUPS).partitions())
                .hasSize(4)
                .allSatisfy(partition -> {
                    assertThat(partition.replicas()).containsExactlyInAnyOrder(NODE, 8, 9);
                    assertThat(partition.inSyncReplicas()).containsExactlyInAnyOrder(NODE, 8);
                });
    }

    @Test
    void shouldPlaceTheLastReplicasOnFencedBrokersWhenTooFewAreLive() {
        TestBrokers.register(machine, 8, 9, 10);
        fence(9);
        fence(10);

        // when
        apply(machine.createTopic(replicated(4, 3), ID));
        apply(machine.createPartitions("a", 6, List.of()));

        // then
        List<PartitionImage> partitions = machine.image().topic("a").partitions();
        assertThat(partitions).hasSize(6).allSatisfy(partition -> {
            assertThat(partition.inSyncReplicas()).containsExactlyInAnyOrder(NODE, 8);
            assertThat(partition.replicas())
                    .hasSize(3)
                    .startsWith(partition.inSyncReplicas().toArray(Integer[]::new));
            assertThat(partition.leader()).isEqualTo(partition.replicas().get(0));
        });
        assertThat(partitions)
                .extracting(partition -> partition.replicas().get(2))
                .as("spread over the fenced brokers")
                .contains(9, 10);
    }

    @Test
    void shouldGiveTopicsTheDefaultNumberOfReplicasWhenTheClientNamesNone() {
        MetadataMachine replicating = new MetadataMachine(new MetadataMachine.Limits(NODE, 3, 2, 100, 250));
        replicating.replay(replicating.format(ID).records());
        TestBrokers.register(replicating, NODE, 8, 9);

        // when
        replicating.replay(replicating.createTopic(named("a"), ID).records());

        // then
        assertThat(replicating.image().topic("a").partitions())
                .hasSize(3)
                .allSatisfy(partition -> assertThat(partition.replicas()).hasSize(2));
    }

    private void fence(int nodeId) {
        machine.replay(List.of(new BrokerChangeRecord()
                .setNodeId(nodeId)
                .setEpoch(machine.image().liveBroker(nodeId).epoch())
                .setFenced(true)));
    }

    @Test
    void shouldPlaceReplicasOnLiveBrokersAndContinueWhenPartitionsAreAdded() {
        TestBrokers.register(machine, 8, 9);
        fence(8);

        apply(machine.createTopic(new TopicSpec("a", 4, 2, List.of(), Map.of()), ID));
        apply(machine.createPartitions("a", 6, List.of()));

        List<PartitionImage> partitions = machine.image().topic("a").partitions();
        assertThat(partitions).hasSize(6).allSatisfy(partition -> {
            assertThat(partition.replicas()).containsExactlyInAnyOrder(NODE, 9);
            assertThat(partition.inSyncReplicas()).isEqualTo(partition.replicas());
            assertThat(partition.leader()).isEqualTo(partition.replicas().get(0));
        });
        assertThat(partitions.stream().filter(partition -> partition.leader() == NODE))
                .hasSize(3);
    }

    @Test
    void shouldTakeTheNodesThatAClientChooses() {
        TestBrokers.register(machine, 8, 9);
        fence(8);

        assertThat(machine.createTopic(assigned(List.of(List.of(8))), ID).reason())
                .contains("are fenced");
        assertThat(machine.createTopic(assigned(List.of(List.of(5))), ID).reason())
                .contains("includes broker 5, but no such broker is registered");
        assertThat(machine.createTopic(assigned(List.of(List.of(9, 9))), ID).reason())
                .contains("includes the broker 9 more than once");
        assertThat(machine.createTopic(assigned(List.of(List.of(9), List.of(9, NODE))), ID)
                        .error())
                .isEqualTo(ErrorCode.INVALID_REPLICA_ASSIGNMENT);

        apply(machine.createTopic(assigned(List.of(List.of(8, 9), List.of(9, NODE))), ID));

        assertThat(machine.image().topic("assigned").partitions())
                .containsExactly(
                        new PartitionImage(9, 0, List.of(8, 9), List.of(9)),
                        new PartitionImage(9, 0, List.of(9, NODE), List.of(9, NODE)));
        assertThat(machine.createPartitions("assigned", 3, List.of(List.of(9))).reason())
                .contains("1 replica(s), but this is not consistent with previous partitions, which have 2");
    }

    @Test
    void shouldRefuseTheWholeTopicWhenOneSettingIsWrong() {
        Decision decision = machine.createTopic(
                new TopicSpec("a", 1, 1, List.of(), Map.of("retention.ms", "1", "cleanup.policy", "freeze")), ID);

        assertThat(decision.error()).isEqualTo(ErrorCode.INVALID_CONFIG);
        assertThat(decision.reason()).contains("freeze", "cleanup.policy", "delete");
        assertThat(decision.records()).isEmpty();
    }

    @Test
    void shouldRefuseSettingsThatContradictEachOther() {
        Map<String, String> contradiction = Map.of("min.compaction.lag.ms", "100", "max.compaction.lag.ms", "50");
        apply(machine.createTopic(new TopicSpec("a", 1, 1, List.of(), Map.of("max.compaction.lag.ms", "50")), ID));

        assertThat(machine.createTopic(new TopicSpec("b", 1, 1, List.of(), contradiction), new Uuid(2, 2))
                        .reason())
                .contains("min.compaction.lag.ms (100)", "max.compaction.lag.ms (50)");
        assertThat(machine.alterTopicConfig("a", Map.of("min.compaction.lag.ms", "51"))
                        .error())
                .isEqualTo(ErrorCode.INVALID_CONFIG);
        apply(machine.alterTopicConfig("a", Map.of("min.compaction.lag.ms", "50")));
    }

    @Test
    void shouldOnlyGrowTheNumberOfPartitions() {
        apply(machine.createTopic(sized("a", 2), ID));

        assertThat(machine.createPartitions("a", 2, List.of()).error()).isEqualTo(ErrorCode.INVALID_PARTITIONS);
        assertThat(machine.createPartitions("a", 101, List.of()).error()).isEqualTo(ErrorCode.INVALID_PARTITIONS);
        assertThat(machine.createPartitions("b", 3, List.of()).error()).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        assertThat(machine.createPartitions("a", 4, List.of(List.of(NODE))).error())
                .isEqualTo(ErrorCode.INVALID_REPLICA_ASSIGNMENT);
        apply(machine.createPartitions("a", 4, List.of(List.of(NODE), List.of(NODE))));
        assertThat(machine.image().topic("a").partitions()).hasSize(4);
    }

    @Test
    void shouldSetAndResetSettingsWhenTheyAreAltered() {
        apply(machine.createTopic(new TopicSpec("a", 1, 1, List.of(), Map.of("retention.ms", "1")), ID));
        Map<String, String> changes = new java.util.TreeMap<>(Map.of("segment.bytes", "2048"));
        changes.put("retention.ms", null);

        apply(machine.alterTopicConfig("a", changes));

        assertThat(machine.image().topic("a").configs()).containsExactly(Map.entry("segment.bytes", "2048"));
        assertThat(machine.alterTopicConfig("a", Map.of("segment.bytes", "1")).error())
                .isEqualTo(ErrorCode.INVALID_CONFIG);
        assertThat(machine.alterTopicConfig("a", Map.of("color", "1")).error()).isEqualTo(ErrorCode.INVALID_CONFIG);
        assertThat(machine.alterTopicConfig("b", Map.of("segment.bytes", "1")).error())
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    @Test
    void shouldKeepSettingsInCanonicalFormWhenTheyAreSetWithAUnit() {
        // when
        TopicSpec spec = new TopicSpec(
                "a",
                1,
                TopicSpec.DEFAULT,
                List.of(),
                Map.of("retention.ms", "5h", "cleanup.policy", "compact, delete"));
        Decision created = machine.createTopic(spec, ID);
        apply(created);
        Decision altered = machine.alterTopicConfig("a", Map.of("segment.bytes", "1MiB"));
        apply(altered);

        // then
        assertThat(values(created)).containsExactly("compact,delete", "18000000");
        assertThat(values(altered)).containsExactly("1048576");
        assertThat(machine.image().topic("a").configs())
                .containsOnly(
                        Map.entry("retention.ms", "18000000"),
                        Map.entry("segment.bytes", "1048576"),
                        Map.entry("cleanup.policy", "compact,delete"));
    }

    @Test
    void shouldReadSettingsInCanonicalFormWhenAnEarlierReleaseHasKeptTheirUnit() {
        // given
        apply(machine.createTopic(named("a"), ID));

        // when
        machine.replay(List.of(
                new ConfigRecord().setTopicId(ID).setName("retention.ms").setValue("5h"),
                new ConfigRecord().setTopicId(ID).setName("of.a.later.release").setValue("5h")));

        // then
        assertThat(machine.image().topic("a").configs())
                .containsOnly(Map.entry("retention.ms", "18000000"), Map.entry("of.a.later.release", "5h"));
    }

    @Test
    void shouldHaveNothingButTheSnapshotWhenItIsRestored() {
        // given
        MetadataMachine other = new MetadataMachine(new MetadataMachine.Limits(NODE, 3, 100, 250));
        other.replay(other.format(ID).records());
        TestBrokers.register(other, NODE);
        other.replay(other.createTopic(sized("both", 2), ID).records());
        other.replay(other.createTopic(named("new"), new Uuid(1, 3)).records());
        apply(machine.format(ID));
        apply(machine.createTopic(sized("both", 2), ID));
        apply(machine.createTopic(named("old"), OTHER_ID));
        TestBrokers.register(machine, 8);
        apply(machine.allocateProducerIds(1_000));

        // when
        MetadataDelta delta = machine.restore(other.snapshot());

        // then
        assertThat(machine.snapshot()).isEqualTo(other.snapshot());
        assertThat(delta.topics())
                .extracting(MetadataDelta.TopicChange::isRemoval)
                .containsExactly(true, false);
        assertThat(delta.now().topics()).extracting(TopicImage::name).containsExactly("both", "new");
        assertThat(delta.now().brokers())
                .extracting(broker -> broker.registration().nodeId())
                .containsExactly(NODE);
    }

    @Test
    void shouldKeepARemovedDefaultOfAnInternalTopicRemovedWhenTheSnapshotIsRestored() {
        // given
        MetadataMachine other = new MetadataMachine(new MetadataMachine.Limits(NODE, 3, 100, 250));
        apply(machine.createTopic(InternalTopics.groups(1, 1), ID));
        apply(machine.alterTopicConfig(InternalTopics.GROUPS, Collections.singletonMap("segment.bytes", null)));
        assertThat(machine.image().topic(ID).configs()).doesNotContainKey("segment.bytes");

        // when
        other.restore(machine.snapshot());

        // then
        assertThat(other.image().topic(ID)).isEqualTo(machine.image().topic(ID));
        assertThat(other.snapshot()).isEqualTo(machine.snapshot());
    }

    private static List<String> values(Decision decision) {
        return decision.records().stream()
                .filter(ConfigRecord.class::isInstance)
                .map(record -> ((ConfigRecord) record).value())
                .toList();
    }

    @Test
    void shouldRegisterABrokerAgainOnlyWhenItHasChanged() {
        // given
        BrokerRegistration registration = TestBrokers.registration(NODE + 1);
        apply(machine.allocateProducerIds(1));
        apply(machine.registrations().register(registration, -1));
        BrokerImage registered = machine.image().liveBroker(NODE + 1);
        assertThat(registered)
                .isEqualTo(new BrokerImage(registration, registered.epoch(), registered.epoch(), false, false, false));
        assertThat(registered.epoch())
                .as("offset of the record")
                .isEqualTo(machine.image().version() - 1);

        // when another process registers the same
        BrokerRegistration restarted = new BrokerRegistration(
                NODE + 1,
                new Uuid(4, 4),
                registration.listeners(),
                registration.rack(),
                registration.features(),
                registration.logDirectories());
        assertThat(machine.registrations().register(restarted, -1).records()).isEmpty();

        // and when it has moved to another rack
        apply(machine.registrations().register(TestBrokers.registration(NODE + 1, "attic"), -1));
        assertThat(machine.image().liveBroker(NODE + 1).rack()).isEqualTo("attic");
        assertThat(machine.image().liveBroker(NODE + 1).epoch()).isGreaterThan(registered.epoch());
    }

    @Test
    void shouldGiveEachProcessItsOwnEpochsWhenABrokerOfAClusterRegisters() {
        // given
        apply(machine.beginTerm(1));
        BrokerRegistration first = TestBrokers.registration(NODE + 1);
        apply(machine.registrations().register(first, -1));
        assertThat(machine.image().broker(NODE + 1).fenced()).isTrue();
        apply(machine.cluster()
                .unfence(NODE + 1, machine.image().broker(NODE + 1).epoch()));
        apply(machine.createTopic(new TopicSpec("orders", 6, 1, List.of(), Map.of()), new Uuid(5, 5)));
        MetadataImage before = machine.image();

        // when another process of the broker registers
        BrokerRegistration second = new BrokerRegistration(
                NODE + 1, new Uuid(4, 4), first.listeners(), first.rack(), first.features(), first.logDirectories());
        apply(machine.registrations().register(second, -1));

        // then
        long epoch = machine.image().broker(NODE + 1).epoch();
        // It is the offset of its record, which follows the changes of the partitions.
        assertThat(epoch).isEqualTo(machine.image().version() - 1).isGreaterThan(before.version());
        assertThat(machine.image().topic("orders").partitions())
                .extracting(PartitionImage::leader)
                .containsOnly(NODE, PartitionImage.NO_LEADER);
        apply(machine.cluster().unfence(NODE + 1, epoch));
        assertThat(machine.image().topic("orders").partitions())
                .allSatisfy(partition ->
                        assertThat(partition.leaderEpoch()).isEqualTo(partition.leader() == NODE + 1 ? 2 : 0));

        // and when it repeats its registration
        assertThat(machine.registrations().register(second, -1).records()).isEmpty();
    }

    @Test
    void shouldFenceABrokerUntilItRegistersAgain() {
        apply(machine.registrations().register(TestBrokers.registration(NODE + 1), -1));
        long epoch = machine.image().liveBroker(NODE + 1).epoch();

        machine.replay(List.of(
                new BrokerChangeRecord().setNodeId(NODE + 1).setEpoch(epoch).setFenced(true)));

        assertThat(machine.image().liveBroker(NODE + 1)).isNull();
        assertThat(machine.image().brokers()).extracting(BrokerImage::fenced).contains(true);
        apply(machine.registrations().register(TestBrokers.registration(NODE + 1), -1));
        assertThat(machine.image().liveBroker(NODE + 1)).isNotNull();
    }

    @Test
    void shouldNeverGiveAProducerIdTwice() {
        long first = machine.nextProducerId();
        apply(machine.allocateProducerIds(1_000));

        assertThat(machine.nextProducerId()).isEqualTo(first + 1_000);
    }

    @Test
    void shouldEnterTheNextLeaderEpochOfEveryPartitionItLeadsWhenTheNodeStarts() {
        assertThat(machine.startNode().records()).as("nothing to start").isEmpty();
        apply(machine.createTopic(sized("a", 2), ID));
        MetadataImage before = machine.image();

        apply(machine.startNode());
        machine.replay(List.of(new NodeStartedRecord().setNodeId(NODE + 1)));

        assertThat(machine.image().topic("a").partitions())
                .extracting(PartitionImage::leaderEpoch)
                .containsOnly(1);
        assertThat(before.topic("a").partitions())
                .extracting(PartitionImage::leaderEpoch)
                .containsOnly(0);
        apply(machine.createPartitions("a", 3, List.of()));
        apply(machine.startNode());
        assertThat(machine.image().topic("a").partitions())
                .extracting(PartitionImage::leaderEpoch)
                .containsExactly(2, 2, 1);
    }

    @Test
    void shouldCallTheLogDamagedWhenARecordCannotFollowThoseBefore() {
        apply(machine.createTopic(sized("a", 1), ID));

        assertDamaged(new RemoveTopicRecord().setTopicId(OTHER_ID));
        assertDamaged(
                new ConfigRecord().setTopicId(OTHER_ID).setName("retention.ms").setValue("1"));
        assertDamaged(new PartitionsRecord().setTopicId(OTHER_ID));
        assertDamaged(new PartitionsRecord().setTopicId(ID).setFirstPartition(-1));
        assertDamaged(new PartitionsRecord().setTopicId(ID).setFirstPartition(2));
        assertDamaged(new TopicRecord().setTopicId(OTHER_ID).setName("a"));
        assertDamaged(new TopicRecord().setTopicId(ID).setName("b"));
        assertDamaged(new BrokerRecord().setNodeId(NODE + 1));
        assertDamaged(new BrokerChangeRecord().setNodeId(NODE + 1));
    }

    private void assertDamaged(io.journalq.common.protocol.Message record) {
        assertThatThrownBy(() -> machine.replay(List.of(record))).isInstanceOf(IllegalArgumentException.class);
    }

    private void apply(Decision decision) {
        assertThat(decision.error()).as(decision.reason()).isEqualTo(ErrorCode.NONE);
        machine.replay(decision.records());
    }

    private static TopicSpec named(String name) {
        return sized(name, TopicSpec.DEFAULT);
    }

    private static TopicSpec sized(String name, int partitions) {
        return new TopicSpec(name, partitions, TopicSpec.DEFAULT, List.of(), Map.of());
    }

    private static TopicSpec replicated(int partitions, int replicationFactor) {
        return new TopicSpec("a", partitions, replicationFactor, List.of(), Map.of());
    }

    private static TopicSpec assigned(List<List<Integer>> assignments) {
        return new TopicSpec("assigned", TopicSpec.DEFAULT, TopicSpec.DEFAULT, assignments, Map.of());
    }
}
