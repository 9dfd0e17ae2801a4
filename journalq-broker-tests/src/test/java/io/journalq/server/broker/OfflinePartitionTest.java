package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DeleteRecordsRequest;
import io.journalq.common.protocol.message.DeleteRecordsResponse;
import io.journalq.common.protocol.message.DescribeTopicPartitionsRequest;
import io.journalq.common.protocol.message.DescribeTopicPartitionsResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.OffsetForLeaderEpochRequest;
import io.journalq.common.protocol.message.OffsetForLeaderEpochResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A broker that cannot open one of its partitions, because there is a file in the place of the directory of partition
 * 0.
 */
class OfflinePartitionTest {
    private static final String TOPIC = "orders";
    private static final short STORAGE_ERROR = ErrorCode.KAFKA_STORAGE_ERROR.code();
    private static final int FETCH_BY_NAME = 12;

    @TempDir
    private Path directory;

    private TestBroker broker;
    private Path saved;
    private Path obstacle;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory).with("admin.listener", "127.0.0.1:0").start();
        broker.createTopic(TOPIC, 2, Map.of());
        try (WireClient client = new WireClient(broker.port())) {
            client.produce(TOPIC, 0, WireClient.batch(1, bytes("first")));
            client.produce(TOPIC, 1, WireClient.batch(1, bytes("second")));
        }
        broker.stop();
        try (Stream<Path> directories = Files.list(directory)) {
            obstacle = directories
                    .filter(path -> path.getFileName().toString().endsWith("-0"))
                    .findFirst()
                    .orElseThrow();
        }
        saved = Files.move(obstacle, directory.resolve("saved"));
        Files.writeString(obstacle, "not a directory");
        broker.start();
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldRespondWithAStorageErrorAndServeTheRestWhenAPartitionCannotBeOpened() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            // then every request for the partition gets a storage error
            assertThat(client.produce(TOPIC, 0, WireClient.batch(1, bytes("third")))
                            .errorCode())
                    .isEqualTo(STORAGE_ERROR);
            assertThat(fetchError(client)).isEqualTo(STORAGE_ERROR);
            assertThat(listOffsetsError(client)).isEqualTo(STORAGE_ERROR);
            assertThat(epochError(client)).isEqualTo(STORAGE_ERROR);
            assertThat(deleteRecordsError(client)).isEqualTo(STORAGE_ERROR);

            // and the other partition is served
            assertThat(client.produce(TOPIC, 1, WireClient.batch(1, bytes("third")))
                            .baseOffset())
                    .isEqualTo(1);
        }
        assertThat(broker.readAll(List.of(new TopicPartition(TOPIC, 1)), 2)).hasSize(2);
    }

    @Test
    void shouldNameTheLeaderAndShowItsReplicaAsOffline() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            MetadataResponse metadata = client.call(
                    MetadataResponse.class,
                    new MetadataRequest().setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName(TOPIC))),
                    9);
            MetadataResponse.MetadataResponseTopic topic = metadata.topics().get(0);
            assertThat(client.call(MetadataResponse.class, new MetadataRequest().setTopics(null), 9)
                            .topics())
                    .contains(topic);
            assertThat(topic.partitions())
                    .extracting(MetadataResponse.MetadataResponsePartition::leaderId)
                    .containsExactly(0, 0);
            assertThat(topic.partitions())
                    .extracting(MetadataResponse.MetadataResponsePartition::offlineReplicas)
                    .containsExactly(List.of(0), List.of());

            DescribeTopicPartitionsResponse described = client.call(
                    DescribeTopicPartitionsResponse.class,
                    new DescribeTopicPartitionsRequest()
                            .setTopics(List.of(new DescribeTopicPartitionsRequest.TopicRequest().setName(TOPIC))),
                    0);
            assertThat(described.topics().get(0).partitions())
                    .extracting(
                            DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition::offlineReplicas)
                    .containsExactly(List.of(0), List.of());
        }
    }

    @Test
    void shouldBeDegradedUntilTheDiskIsReplaced() throws Exception {
        assertThat(broker.page("/health").statusCode()).isEqualTo(200);
        assertThat(broker.page("/health").body())
                .isEqualTo("{\"status\":\"degraded\",\"offlinePartitionCount\":1,"
                        + "\"offlinePartitions\":[\"orders-0\"]}");
        assertThat(broker.page("/metrics").body()).contains("journalq_partitions_offline 1.0");

        // when the files are back
        broker.stop();
        Files.delete(obstacle);
        Files.move(saved, obstacle);
        broker.start();

        // then the records are back too
        assertThat(broker.page("/health").body()).isEqualTo("{\"status\":\"up\"}");
        assertThat(broker.readAll(List.of(new TopicPartition(TOPIC, 0)), 1)).hasSize(1);
    }

    @Test
    void shouldForgetAPartitionAndDeleteWhatIsThereWhenItsTopicIsDeleted() throws Exception {
        try (Admin admin = broker.admin()) {
            admin.deleteTopics(List.of(TOPIC)).all().get(30, TimeUnit.SECONDS);
        }

        assertThat(broker.page("/health").body()).isEqualTo("{\"status\":\"up\"}");
        broker.await(() -> Files.notExists(obstacle));
    }

    private static short fetchError(WireClient client) throws IOException {
        FetchRequest request = new FetchRequest()
                .setMaxWaitMs(30_000)
                .setMinBytes(1)
                .setMaxBytes(1_000_000)
                .setSessionEpoch(-1)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic(TOPIC)
                        .setPartitions(List.of(new FetchRequest.FetchPartition()
                                .setPartition(0)
                                .setPartitionMaxBytes(1_000_000)))));
        FetchResponse response = client.call(FetchResponse.class, request, FETCH_BY_NAME);
        return response.responses().get(0).partitions().get(0).errorCode();
    }

    private static short listOffsetsError(WireClient client) throws IOException {
        ListOffsetsRequest request = new ListOffsetsRequest()
                .setReplicaId(-1)
                .setTopics(List.of(new ListOffsetsRequest.ListOffsetsTopic()
                        .setName(TOPIC)
                        .setPartitions(List.of(new ListOffsetsRequest.ListOffsetsPartition()
                                .setPartitionIndex(0)
                                .setTimestamp(-1)))));
        ListOffsetsResponse response = client.call(ListOffsetsResponse.class, request, 7);
        return response.topics().get(0).partitions().get(0).errorCode();
    }

    private static short epochError(WireClient client) throws IOException {
        OffsetForLeaderEpochRequest request = new OffsetForLeaderEpochRequest()
                .setReplicaId(-1)
                .setTopics(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderTopic()
                        .setTopic(TOPIC)
                        .setPartitions(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderPartition()
                                .setPartition(0)
                                .setLeaderEpoch(0)))));
        OffsetForLeaderEpochResponse response = client.call(OffsetForLeaderEpochResponse.class, request, 4);
        return response.topics().get(0).partitions().get(0).errorCode();
    }

    private static short deleteRecordsError(WireClient client) throws IOException {
        DeleteRecordsRequest request = new DeleteRecordsRequest()
                .setTimeoutMs(30_000)
                .setTopics(List.of(new DeleteRecordsRequest.DeleteRecordsTopic()
                        .setName(TOPIC)
                        .setPartitions(List.of(new DeleteRecordsRequest.DeleteRecordsPartition()
                                .setPartitionIndex(0)
                                .setOffset(-1)))));
        DeleteRecordsResponse response = client.call(DeleteRecordsResponse.class, request, 2);
        return response.topics().get(0).partitions().get(0).errorCode();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
