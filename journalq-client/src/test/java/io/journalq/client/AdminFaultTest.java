package io.journalq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.admin.GroupListing;
import io.journalq.client.admin.LogDirDescription;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.admin.TransactionListing;
import io.journalq.client.error.BrokerErrorException;
import io.journalq.client.error.UnknownTopicException;
import io.journalq.client.fake.FakeCluster;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of an admin while a broker dies. */
@Timeout(60)
final class AdminFaultTest {
    private FakeCluster cluster;
    private Admin admin;

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(2);
        admin = Admin.builder()
                .bootstrapServers(cluster.bootstrapServers())
                .callTimeout(Duration.ofSeconds(10))
                .build();
    }

    @AfterEach
    void stop() {
        admin.close();
        cluster.close();
    }

    @Test
    void shouldDescribeTheDirectoriesOfTheOtherBrokersWhenOneThatHasDiedIsFenced() {
        assertThat(admin.describeLogDirs()).hasSize(2);
        cluster.kill(1);
        // when the cluster notices it later
        var unused = CompletableFuture.runAsync(
                () -> cluster.fence(1), CompletableFuture.delayedExecutor(500, TimeUnit.MILLISECONDS));

        // then
        assertThat(admin.describeLogDirs())
                .extracting(LogDirDescription::brokerId)
                .containsExactly(0);
    }

    /** It uses no topic, and its connection to the first broker stays open until that dies. */
    @Test
    void shouldReachABrokerThatItLearnsOfOnlyByTheAgeOfItsMetadata() throws Exception {
        String all = cluster.bootstrapServers();
        String first = all.substring(0, all.indexOf(','));
        try (Admin patient = Admin.builder()
                .bootstrapServers(first)
                .metadataMaxAge(Duration.ofMillis(50))
                .callTimeout(Duration.ofSeconds(5))
                .build()) {
            assertThat(patient.describeCluster()).isNotNull();
            int before = cluster.requests();
            while (cluster.requests() < before + 2) { // the first of two has changed the metadata
                Thread.sleep(5);
            }
            // when
            cluster.kill(0);
            // then
            assertThat(patient.describeCluster()).isNotNull();
        }
    }

    @Test
    void shouldDeleteRecordsOfAPartitionThatWasAddedToAKnownTopic() {
        TopicPartition added = new TopicPartition("orders", 1);
        cluster.topic("orders", 1);
        admin.deleteRecords(Map.of(new TopicPartition("orders", 0), 3L));
        // when
        cluster.addPartition("orders");
        // then
        assertThat(admin.deleteRecords(Map.of(added, 5L))).isEqualTo(Map.of(added, 5L));
        assertThatThrownBy(() -> admin.deleteRecords(Map.of(new TopicPartition("orders", 2), 5L)))
                .isInstanceOf(UnknownTopicException.class)
                .hasMessageContaining("has no partition 2; it has 2");
    }

    @Test
    void shouldDeleteNoRecordsOfAPartitionThatATopicDoesNotHaveAnyMore() {
        TopicPartition gone = new TopicPartition("orders", 1);
        cluster.topic("orders", 2);
        admin.deleteRecords(Map.of(gone, 3L));
        // when it is created again
        cluster.topic("orders", 1);
        // then
        assertThatThrownBy(() -> admin.deleteRecords(Map.of(gone, 5L)))
                .isInstanceOf(UnknownTopicException.class)
                .hasMessageContaining("has no partition 1; it has 1");
    }

    @Test
    void shouldSayWhichLookupOfAnOffsetIsRefusedWhenOthersCanBeTriedAgain() {
        cluster.topic("orders", 3);
        cluster.failLookups("orders", 0, ErrorCode.TOPIC_AUTHORIZATION_FAILED);
        cluster.failLookups("orders", 1, ErrorCode.LEADER_NOT_AVAILABLE);
        cluster.failLookups("orders", 2, ErrorCode.LEADER_NOT_AVAILABLE);
        Map<TopicPartition, OffsetSpec> specs = new LinkedHashMap<>();
        for (int partition = 0; partition < 3; partition++) {
            specs.put(new TopicPartition("orders", partition), OffsetSpec.latest());
        }

        assertThatThrownBy(() -> admin.listOffsets(specs))
                .isInstanceOf(BrokerErrorException.class)
                .hasMessageContaining("orders-0");
    }

    @Test
    void shouldListWhatOtherBrokersCoordinateAfterOneThatHasDied() {
        assertThat(admin.listGroups()).hasSize(2);
        assertThat(admin.listTransactions()).hasSize(2);
        cluster.kill(1);
        // when the first broker takes over what it coordinated
        var unused = CompletableFuture.runAsync(
                () -> cluster.fence(1), CompletableFuture.delayedExecutor(500, TimeUnit.MILLISECONDS));

        // then
        assertThat(admin.listGroups()).extracting(GroupListing::groupId).containsExactly("group-0", "group-1");
        assertThat(admin.listTransactions())
                .extracting(TransactionListing::transactionalId)
                .containsExactly("copier-0", "copier-1");
    }
}
