package io.journalq.server.control;

import static io.journalq.server.control.ControllerFixture.LIMITS;
import static io.journalq.server.control.ControllerFixture.NODE;
import static io.journalq.server.control.ControllerFixture.SEGMENT_SIZE_BYTES;
import static io.journalq.server.control.ControllerFixture.SNAPSHOT_INTERVAL_BYTES;
import static io.journalq.server.control.ControllerFixture.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.control.Controller.ConfigChange;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.ResourceId;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.partition.Reassignment;
import io.journalq.server.metadata.record.AclRecord;
import io.journalq.server.metadata.record.BrokerChangeRecord;
import io.journalq.server.metadata.record.BrokerRecord;
import io.journalq.server.metadata.record.BrokerRecord.BrokerFeature;
import io.journalq.server.metadata.record.BrokerRecord.BrokerListener;
import io.journalq.server.metadata.record.ClientQuotaRecord;
import io.journalq.server.metadata.record.ClusterRecord;
import io.journalq.server.metadata.record.ConfigRecord;
import io.journalq.server.metadata.record.ControllerRecord;
import io.journalq.server.metadata.record.NodeStartedRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord.ChangeState;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import io.journalq.server.metadata.record.ProducerIdsRecord;
import io.journalq.server.metadata.record.RemoveAclRecord;
import io.journalq.server.metadata.record.RemoveBrokerRecord;
import io.journalq.server.metadata.record.RemoveScramRecord;
import io.journalq.server.metadata.record.RemoveTopicRecord;
import io.journalq.server.metadata.record.ResourceConfigRecord;
import io.journalq.server.metadata.record.ScramRecord;
import io.journalq.server.metadata.record.SnapshotEndRecord;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclFilter;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclPattern;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.AclResource;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.metadata.security.ScramImage.ScramUser;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metadata log stays small in all cases, and a stop while it is shortened loses nothing. */
class MetadataSnapshotTest {
    private static final int CHANGES = 60;
    private static final int MANY_CHANGES = 2_000;
    private static final int STEPS_AT_MOST = 5_000;

    private final AtomicLong lastId = new AtomicLong();

    @Test
    void shouldKeepEverythingThatAnyKindOfRecordSays() {
        // given a machine that has replayed a record of every type
        List<Message> told = everyKind();
        assertThat(told.stream().<Object>map(Message::getClass).distinct())
                .as("a new record type: define what a snapshot contains for it, and add one here")
                .containsExactlyInAnyOrderElementsOf(MetadataRecordCodec.types().stream()
                        .map(MetadataRecordCodec.Type::recordClass)
                        .toList());
        MetadataMachine machine = new MetadataMachine(LIMITS);
        machine.replay(told);

        // when another one replays its snapshot
        MetadataMachine other = new MetadataMachine(LIMITS);
        other.replay(machine.snapshot());

        // then both have the same state
        MetadataImage image = other.image();
        assertThat(image.clusterId()).isEqualTo("cluster");
        assertThat(image.version()).isEqualTo(machine.image().version()).isGreaterThan(1_000);
        assertThat(image.topics()).containsExactlyElementsOf(machine.image().topics());
        assertThat(image.topics()).hasSize(1);
        assertThat(image.topic("kept").partitions()).hasSize(2_500);
        assertThat(image.topic("kept").partitions().get(2_499).leaderEpoch()).isEqualTo(8);
        assertThat(image.topic("kept").partitions().get(0))
                .isEqualTo(new PartitionImage(
                        -1, 9, 1, List.of(NODE), List.of(), List.of(NODE), List.of(), -1, Reassignment.NONE));
        assertThat(image.topic("kept").partitions().get(2_400))
                .isEqualTo(new PartitionImage(
                        NODE, 8, 1, List.of(NODE), List.of(NODE), List.of(), List.of(NODE), -1, Reassignment.NONE));
        assertThat(image.quotas().byEntity())
                .isEqualTo(machine.image().quotas().byEntity())
                .hasSize(2);
        assertThat(image.resources().byResource())
                .isEqualTo(Map.of(
                        new ResourceId(ResourceId.Kind.GROUP, "readers"),
                        Map.of("consumer.session.timeout.ms", "50000")));
        assertThat(image.brokers()).containsExactlyElementsOf(machine.image().brokers());
        assertThat(image.brokers()).extracting(BrokerImage::nodeId).containsExactly(NODE, NODE + 1);
        assertThat(image.liveBroker(NODE).rack()).isEqualTo("attic");
        assertThat(image.liveBroker(NODE + 1)).as("fenced").isNull();
        assertThat(image.scram().users()).extracting(ScramUser::name).containsExactly("ada");
        assertThat(image.scram().of("ada"))
                .isEqualTo(machine.image().scram().of("ada"))
                .containsOnlyKeys(ScramMechanism.SCRAM_SHA_512);
        assertThat(image.acls().select(AclFilter.EVERY_ACL))
                .containsExactly(new Acl(
                        new AclResource(AclResourceType.TOPIC, AclPattern.PREFIXED, "ord"),
                        "User:ada",
                        "*",
                        AclOperation.READ,
                        AclPermission.DENY));
        assertThat(other.nextProducerId()).isEqualTo(77);
        assertThat(other.snapshot()).isEqualTo(machine.snapshot());
    }

    private static List<Message> everyKind() {
        Uuid kept = new Uuid(1, 1);
        Uuid gone = new Uuid(1, 2);
        PartitionState state = new PartitionState()
                .setLeader(NODE)
                .setLeaderEpoch(7)
                .setReplicas(List.of(NODE))
                .setInSyncReplicas(List.of(NODE));
        List<PartitionState> states = Collections.nCopies(2_500, state);
        return List.of(
                new ClusterRecord().setClusterId("cluster"),
                new SnapshotEndRecord().setVersion(1_000),
                new TopicRecord().setTopicId(kept).setName("kept"),
                new PartitionsRecord().setTopicId(kept).setPartitions(states),
                new ConfigRecord().setTopicId(kept).setName("retention.ms").setValue("5"),
                new ConfigRecord().setTopicId(kept).setName("segment.bytes").setValue("2048"),
                new ConfigRecord().setTopicId(kept).setName("segment.bytes").setValue(null),
                new TopicRecord().setTopicId(gone).setName("gone"),
                new RemoveTopicRecord().setTopicId(gone),
                new NodeStartedRecord().setNodeId(NODE),
                new PartitionChangesRecord()
                        .setTopicId(kept)
                        .setChanges(List.of(
                                new ChangeState()
                                        .setPartition(0)
                                        .setLeader(-1)
                                        .setInSyncReplicas(List.of())
                                        .setEligibleLeaders(List.of(NODE)),
                                new ChangeState().setPartition(2_400).setLastKnownEligible(List.of(NODE)))),
                new ProducerIdsRecord().setNextProducerId(77),
                quota("anna", "consumer_byte_rate", false),
                quota(null, "consumer_byte_rate", false),
                quota("otto", "consumer_byte_rate", false),
                quota("otto", "consumer_byte_rate", true),
                broker(NODE, "cellar"),
                broker(NODE, "attic"),
                broker(NODE + 1, ""),
                broker(NODE + 2, ""),
                new RemoveBrokerRecord().setNodeId(NODE + 2),
                new BrokerChangeRecord().setNodeId(NODE + 1).setEpoch(5).setFenced(true),
                resource("consumer.session.timeout.ms", "50000"),
                resource("consumer.heartbeat.interval.ms", "7000"),
                resource("consumer.heartbeat.interval.ms", null),
                new ControllerRecord().setNodeId(NODE).setTerm(3),
                credential("ada", ScramMechanism.SCRAM_SHA_256),
                credential("ada", ScramMechanism.SCRAM_SHA_512),
                credential("bob", ScramMechanism.SCRAM_SHA_256),
                new RemoveScramRecord().setUser("ada").setMechanism(ScramMechanism.SCRAM_SHA_256.type()),
                new RemoveScramRecord().setUser("bob").setMechanism(ScramMechanism.SCRAM_SHA_256.type()),
                acl("orders", AclPattern.LITERAL),
                acl("ord", AclPattern.PREFIXED),
                new RemoveAclRecord()
                        .setResourceType(AclResourceType.TOPIC.code())
                        .setPatternType(AclPattern.LITERAL.code())
                        .setResourceName("orders")
                        .setPrincipal("User:ada")
                        .setHost("*")
                        .setOperation(AclOperation.READ.code())
                        .setPermissionType(AclPermission.DENY.code()));
    }

    private static AclRecord acl(String name, AclPattern pattern) {
        return new AclRecord()
                .setResourceType(AclResourceType.TOPIC.code())
                .setPatternType(pattern.code())
                .setResourceName(name)
                .setPrincipal("User:ada")
                .setHost("*")
                .setOperation(AclOperation.READ.code())
                .setPermissionType(AclPermission.DENY.code());
    }

    private static ScramRecord credential(String user, ScramMechanism mechanism) {
        byte[] key = new byte[mechanism.hashSizeBytes()];
        return new ScramRecord()
                .setUser(user)
                .setMechanism(mechanism.type())
                .setSalt(Unpooled.wrappedBuffer(new byte[] {1, 2, 3}))
                .setIterations(5_000)
                .setStoredKey(Unpooled.wrappedBuffer(key))
                .setServerKey(Unpooled.wrappedBuffer(key));
    }

    private static BrokerRecord broker(int nodeId, String rack) {
        return new BrokerRecord()
                .setNodeId(nodeId)
                .setEpoch(5)
                .setIncarnationId(new Uuid(4, nodeId))
                .setListeners(List.of(
                        new BrokerListener().setName("IN").setHost("10.0.0.1").setPort(9092),
                        new BrokerListener().setName("OUT").setHost("").setPort(9093)))
                .setRack(rack)
                .setFeatures(List.of(new BrokerFeature()
                        .setName("cluster.version")
                        .setLowestLevel((short) 1)
                        .setHighestLevel((short) 2)))
                .setLogDirectories(List.of(new Uuid(5, 1), new Uuid(5, 2)));
    }

    private static ResourceConfigRecord resource(String name, String value) {
        return new ResourceConfigRecord()
                .setResourceType(ResourceId.Kind.GROUP.code())
                .setResourceName("readers")
                .setName(name)
                .setValue(value);
    }

    private static ClientQuotaRecord quota(String user, String key, boolean remove) {
        return new ClientQuotaRecord()
                .setUser(true)
                .setUserName(user)
                .setKey(key)
                .setValue(remove ? 0 : 10)
                .setRemove(remove);
    }

    @Test
    void shouldHoldNoMoreThanAFewSnapshotsWhenThereWereVeryManyChanges(@TempDir Path directory) throws Exception {
        // given very many changes of one topic
        FileStore store = new SystemFileStore();
        try (ControllerFixture broker = start(store, directory)) {
            broker.create("orders", 3);
            for (int i = 0; i < MANY_CHANGES; i++) {
                alter(broker, i);
            }
        }
        // then the files are small
        long sizeBytes;
        try (Stream<Path> files = Files.list(directory)) {
            sizeBytes = files.mapToLong(file -> file.toFile().length()).sum();
        }
        assertThat(sizeBytes).isLessThan(4L * SNAPSHOT_INTERVAL_BYTES + 2 * SEGMENT_SIZE_BYTES);
        // and a start reads few records, with the same content
        List<Message> replayed = new ArrayList<>();
        try (ControllerFixture broker =
                ControllerFixture.start(store, directory, this::newId, log -> new ListeningLog(log, replayed))) {
            assertThat(broker.image().topic("orders").configs())
                    .containsEntry("retention.ms", Integer.toString(MANY_CHANGES - 1));
            assertThat(broker.image().version()).isGreaterThan(MANY_CHANGES);
        }
        assertThat(replayed).hasSizeLessThan(200);
    }

    @Test
    void shouldTakeTheSnapshotBeforeWhenTheNewestIsBad(@TempDir Path directory) throws Exception {
        FileStore store = new SystemFileStore();
        fill(store, directory);
        List<Path> snapshots = snapshots(directory);
        assertThat(snapshots).hasSize(2);

        Files.write(snapshots.get(1), new byte[] {1, 2, 3});

        try (ControllerFixture broker = start(store, directory)) {
            assertThat(broker.image().topic("orders").configs())
                    .containsEntry("retention.ms", Integer.toString(CHANGES * 3 - 1));
        }
    }

    @Test
    void shouldRefuseToStartWithoutWhatSnapshotsStoodFor(@TempDir Path directory) throws Exception {
        FileStore store = new SystemFileStore();
        fill(store, directory);
        for (Path snapshot : snapshots(directory)) {
            Files.delete(snapshot);
        }

        assertThatThrownBy(() -> start(store, directory).close())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no snapshot reaches that far");
    }

    private void fill(FileStore store, Path directory) throws Exception {
        try (ControllerFixture broker = start(store, directory)) {
            broker.create("orders", 3);
            for (int i = 0; i < CHANGES * 3; i++) {
                alter(broker, i);
            }
        }
    }

    private static List<Path> snapshots(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".snapshot"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void shouldLoseNothingAcknowledgedWhereverTheProcessStops() throws Exception {
        Path directory = Path.of("metadata-0");
        int step = 0;
        boolean stopped = true;
        while (stopped) {
            // given a broker whose process stops at one of its file operations
            step++;
            assertThat(step).isLessThan(STEPS_AT_MOST);
            MemoryFileStore files = new MemoryFileStore();
            StoppingFileStore stopping = new StoppingFileStore(files, step);
            Optional<Integer> acknowledged = changeUntilStopped(stopping, directory);
            stopped = stopping.stopped();

            // when it starts again
            try (ControllerFixture broker = start(files, directory)) {
                // then every acknowledged change is there, and at most one more, which was in progress
                if (acknowledged.isPresent()) {
                    int value = Integer.parseInt(
                            broker.image().topic("orders").configs().getOrDefault("retention.ms", "-1"));
                    assertThat(value)
                            .as("stopped at step %d", step)
                            .isBetween(acknowledged.get(), acknowledged.get() + 1);
                }
            }
        }
        assertThat(step).as("steps at which the process was stopped").isGreaterThan(CHANGES);
    }

    /** The last acknowledged change; -1 if it is the creation of the topic; empty if not even that was acknowledged. */
    private Optional<Integer> changeUntilStopped(StoppingFileStore stopping, Path directory) throws Exception {
        Optional<Integer> acknowledged = Optional.empty();
        ControllerFixture broker;
        try {
            broker = start(stopping.store(), directory);
        } catch (IOException stopped) {
            return acknowledged;
        }
        try {
            if (broker.create("orders", 3).error() == ErrorCode.NONE) {
                acknowledged = Optional.of(-1);
                for (int i = 0; i < CHANGES && alter(broker, i) == ErrorCode.NONE; i++) {
                    acknowledged = Optional.of(i);
                }
            }
        } finally {
            try {
                broker.close();
            } catch (IOException stopped) {
                // This is what is tested.
                assertThat(stopping.stopped()).isTrue();
            }
        }
        return acknowledged;
    }

    private static ErrorCode alter(ControllerFixture broker, int value) throws Exception {
        ConfigChange change = new ConfigChange("orders", image -> Map.of("retention.ms", Integer.toString(value)));
        return await(broker.controller.alterTopicConfigs(List.of(change), false))
                .get(0)
                .error();
    }

    private ControllerFixture start(FileStore store, Path directory) throws IOException {
        return ControllerFixture.start(store, directory, this::newId, UnaryOperator.identity());
    }

    private Uuid newId() {
        return new Uuid(1, lastId.incrementAndGet());
    }

    /** Records what was replayed. */
    private record ListeningLog(MetadataLog inner, List<Message> replayed) implements MetadataLog {
        @Override
        public void fence(IOException reason) {
            inner.fence(reason);
        }

        @Override
        public void open(Replica replica) throws IOException {
            inner.open(new Replica() {
                @Override
                public void replay(List<Message> records) {
                    replayed.addAll(records);
                    replica.replay(records);
                }

                @Override
                public void restore(List<Message> snapshot) {
                    replayed.addAll(snapshot);
                    replica.restore(snapshot);
                }

                @Override
                public List<Message> snapshot() {
                    return replica.snapshot();
                }

                @Override
                public int level() {
                    return replica.level();
                }
            });
        }

        @Override
        public CompletableFuture<Void> propose(MetadataBatch batch) {
            return inner.propose(batch);
        }

        @Override
        public void onRole(Consumer<Role> listener) {
            inner.onRole(listener);
        }

        @Override
        public boolean electsLeader() {
            return inner.electsLeader();
        }

        @Override
        public Members members() {
            return inner.members();
        }

        @Override
        public void close() throws IOException {
            inner.close();
        }
    }
}
