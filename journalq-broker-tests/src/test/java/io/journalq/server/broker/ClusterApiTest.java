package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConfigResourcesOptions;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.errors.InvalidReplicaAssignmentException;
import org.apache.kafka.common.errors.NoReassignmentInProgressException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests of administrators about a cluster of one broker. */
class ClusterApiTest {
    private static final long SECONDS = 20;
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final TopicPartition NONE = new TopicPartition("none", 0);

    @TempDir
    private Path directory;

    private TestBroker broker;
    private Admin admin;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory).start();
        admin = broker.admin();
        broker.createTopic("orders", 2, Map.of());
    }

    @AfterEach
    void stop() {
        admin.close();
        broker.close();
    }

    @Test
    void shouldNeedNoElection() throws Exception {
        var results = get(
                admin.electLeaders(ElectionType.PREFERRED, Set.of(FIRST, NONE)).partitions());

        assertThat(results.get(FIRST)).get().isInstanceOf(ElectionNotNeededException.class);
        assertThat(results.get(NONE)).get().isInstanceOf(UnknownTopicOrPartitionException.class);
        assertThat(get(admin.electLeaders(ElectionType.PREFERRED, null).partitions()))
                .isEmpty();
    }

    @Test
    void shouldLeavePartitionsWhereTheyAre() throws Exception {
        get(admin.alterPartitionReassignments(Map.of(FIRST, Optional.of(new NewPartitionReassignment(List.of(0)))))
                .all());

        assertThat(get(admin.listPartitionReassignments().reassignments())).isEmpty();
        assertFails(
                admin.alterPartitionReassignments(Map.of(FIRST, Optional.of(new NewPartitionReassignment(List.of(7)))))
                        .all(),
                InvalidReplicaAssignmentException.class);
        assertFails(
                admin.alterPartitionReassignments(Map.of(FIRST, Optional.empty()))
                        .all(),
                NoReassignmentInProgressException.class);
        assertFails(
                admin.alterPartitionReassignments(Map.of(NONE, Optional.empty()))
                        .all(),
                UnknownTopicOrPartitionException.class);
    }

    @Test
    void shouldDescribeAQuorumOfOneThatGrowsWithItsLog() throws Exception {
        QuorumInfo before = get(admin.describeMetadataQuorum().quorumInfo());

        broker.createTopic("more", 1, Map.of());

        QuorumInfo after = get(admin.describeMetadataQuorum().quorumInfo());
        assertThat(after.leaderId()).isZero();
        assertThat(after.observers()).isEmpty();
        assertThat(after.voters()).singleElement().satisfies(voter -> {
            assertThat(voter.replicaId()).isZero();
            assertThat(voter.logEndOffset()).isEqualTo(after.highWatermark());
            assertThat(voter.lastCaughtUpTimestamp()).isPresent();
        });
        assertThat(after.highWatermark()).isGreaterThan(before.highWatermark());
        assertThat(after.nodes().get(0).endpoints()).singleElement().satisfies(endpoint -> assertThat(endpoint.port())
                .isEqualTo(broker.port()));
    }

    @Test
    void shouldListWhatHasSettings() throws Exception {
        assertThat(get(admin.listConfigResources().all()))
                .contains(
                        new ConfigResource(ConfigResource.Type.TOPIC, "orders"),
                        new ConfigResource(ConfigResource.Type.BROKER, "0"));
        assertThat(get(admin.listConfigResources(Set.of(ConfigResource.Type.TOPIC), new ListConfigResourcesOptions())
                        .all()))
                .containsExactly(new ConfigResource(ConfigResource.Type.TOPIC, "orders"));
    }

    private static void assertFails(KafkaFuture<?> future, Class<? extends Throwable> error) {
        assertThatThrownBy(() -> get(future)).cause().isInstanceOf(error);
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(SECONDS, TimeUnit.SECONDS);
    }
}
