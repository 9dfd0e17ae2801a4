package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import io.journalq.common.protocol.message.OffsetForLeaderEpochRequest;
import io.journalq.common.protocol.message.OffsetForLeaderEpochResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lookups of offsets by timestamp and by epoch, and the deletion of records by request, age and size. */
class OffsetsApiTest {
    private static final long SECONDS = 30;
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);

    @TempDir
    Path dataDirectory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("log.retention.check.interval.ms", "20")
                .start();
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldFindOffsetsByTimeAndAtTheEnds() throws Exception {
        // given records whose timestamps do not grow with their offsets
        broker.createTopic("t", 1, Map.of("retention.ms", "-1"));
        produce(100, 300, 200, 500, 400);
        try (Admin admin = broker.admin()) {
            assertThat(offset(admin, OffsetSpec.earliest()).offset()).isZero();
            assertThat(offset(admin, OffsetSpec.earliestLocal()).offset()).isZero();
            assertThat(offset(admin, OffsetSpec.latest()).offset()).isEqualTo(5);
            assertThat(offset(admin, OffsetSpec.latestTiered()).offset()).isEqualTo(-1);

            ListOffsetsResultInfo largest = offset(admin, OffsetSpec.maxTimestamp());
            assertThat(largest.offset()).isEqualTo(3);
            assertThat(largest.timestamp()).isEqualTo(500);

            assertThat(offset(admin, OffsetSpec.forTimestamp(0)).offset()).isZero();
            assertThat(offset(admin, OffsetSpec.forTimestamp(150)).offset()).isEqualTo(1);
            assertThat(offset(admin, OffsetSpec.forTimestamp(150)).timestamp()).isEqualTo(300);
            assertThat(offset(admin, OffsetSpec.forTimestamp(301)).offset()).isEqualTo(3);
            assertThat(offset(admin, OffsetSpec.forTimestamp(501)).offset()).isEqualTo(-1);
        }
    }

    @Test
    void shouldSayWhyAnOffsetCannotBeFound() throws Exception {
        broker.createTopic("t", 1, Map.of("retention.ms", "-1"));
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(list(client, "t", 0, -9, -1).errorCode()).isEqualTo(ErrorCode.UNSUPPORTED_VERSION.code());
            assertThat(list(client, "t", 1, -1, -1).errorCode()).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
            assertThat(list(client, "none", 0, -1, -1).errorCode())
                    .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
            assertThat(list(client, "t", 0, -1, 7).errorCode()).isEqualTo(ErrorCode.UNKNOWN_LEADER_EPOCH.code());
            assertThat(list(client, "t", 0, -1, 0).offset()).isZero();
        }
    }

    @Test
    void shouldTellWhereAnEpochEndsWhenTheBrokerWasStartedAgain() throws Exception {
        // given 2 records of epoch 0 and, after a restart, 3 of epoch 1
        broker.createTopic("t", 1, Map.of("retention.ms", "-1"));
        produce(1, 2);
        broker.stop();
        broker.start();
        produce(3, 4, 5);
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(end(client, 0)).extracting("leaderEpoch", "endOffset").containsExactly(0, 2L);
            assertThat(end(client, 1)).extracting("leaderEpoch", "endOffset").containsExactly(1, 5L);
            assertThat(end(client, 9)).extracting("leaderEpoch", "endOffset").containsExactly(-1, -1L);
            assertThat(list(client, "t", 0, -1, 0).errorCode()).isEqualTo(ErrorCode.FENCED_LEADER_EPOCH.code());
        }
    }

    @Test
    void shouldTellWhereALostEpochEndsWhenNothingWasAppendedSince() throws Exception {
        // given 2 records of epoch 0, and a broker that was started twice since
        broker.createTopic("t", 1, Map.of("retention.ms", "-1"));
        produce(1, 2);
        for (int restart = 0; restart < 2; restart++) {
            broker.stop();
            broker.start();
        }

        // then a consumer that knows epoch 1 or 2 finds the end of the log
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(end(client, 0)).extracting("leaderEpoch", "endOffset").containsExactly(0, 2L);
            assertThat(end(client, 1)).extracting("leaderEpoch", "endOffset").containsExactly(0, 2L);
            assertThat(end(client, 2)).extracting("leaderEpoch", "endOffset").containsExactly(2, 2L);
        }
    }

    @Test
    void shouldTellABrokerWhetherTheReplicaKnowsALaterLeaderEpoch() throws Exception {
        broker.createTopic("t", 1, Map.of("retention.ms", "-1"));
        broker.stop();
        broker.start();

        // then a broker that knows the epoch of before is refused
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(end(client, 1, 0, -1).errorCode()).isEqualTo(ErrorCode.FENCED_LEADER_EPOCH.code());
            assertThat(end(client, 1, 1, -1).errorCode()).isEqualTo(ErrorCode.NONE.code());
            assertThat(end(client, 1, 2, -1).errorCode()).isEqualTo(ErrorCode.NONE.code());
        }
    }

    @Test
    void shouldGiveUpRecordsOnRequest() throws Exception {
        broker.createTopic("t", 1, Map.of("retention.ms", "-1"));
        produce(1, 2, 3, 4);
        try (Admin admin = broker.admin()) {
            assertThat(admin.deleteRecords(Map.of(PARTITION, RecordsToDelete.beforeOffset(3)))
                            .lowWatermarks()
                            .get(PARTITION)
                            .get(SECONDS, TimeUnit.SECONDS)
                            .lowWatermark())
                    .isEqualTo(3);
            assertThat(offset(admin, OffsetSpec.earliest()).offset()).isEqualTo(3);
            assertThatThrownBy(() -> admin.deleteRecords(Map.of(PARTITION, RecordsToDelete.beforeOffset(5)))
                            .all()
                            .get(SECONDS, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(OffsetOutOfRangeException.class);
            var unused = admin.deleteRecords(Map.of(PARTITION, RecordsToDelete.beforeOffset(-1)))
                    .all()
                    .get(SECONDS, TimeUnit.SECONDS);
            assertThat(offset(admin, OffsetSpec.earliest()).offset()).isEqualTo(4);
        }
        broker.stop();
        broker.start();
        try (Admin admin = broker.admin()) {
            assertThat(offset(admin, OffsetSpec.earliest()).offset()).isEqualTo(4);
            assertThat(offset(admin, OffsetSpec.latest()).offset()).isEqualTo(4);
        }
    }

    @Test
    void shouldGiveUpOldSegmentsByAgeAndBySize() throws Exception {
        broker.createTopic("old", 1, Map.of("retention.ms", "1000", "segment.bytes", "1048576"));
        broker.createTopic("large", 1, Map.of("retention.bytes", "2000000", "segment.bytes", "1048576"));
        byte[] value = new byte[200_000];
        long nowMs = System.currentTimeMillis();
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("linger.ms", 0))) {
            for (int i = 0; i < 20; i++) {
                // records of 1970 in the first topic, of today in the second
                var old = producer.send(new ProducerRecord<>("old", 0, 1_000L + i, null, value))
                        .get(SECONDS, TimeUnit.SECONDS);
                assertThat(old.offset()).isEqualTo(i);
                var large = producer.send(new ProducerRecord<>("large", 0, nowMs, null, value))
                        .get(SECONDS, TimeUnit.SECONDS);
                assertThat(large.offset()).isEqualTo(i);
            }
            var fresh = producer.send(new ProducerRecord<>("old", 0, nowMs + 3_600_000, null, value))
                    .get(SECONDS, TimeUnit.SECONDS);
            assertThat(fresh.offset()).isEqualTo(20);
        }
        try (Admin admin = broker.admin()) {
            broker.await(() -> earliest(admin, "old") >= 16);
            broker.await(() -> earliest(admin, "large") >= 5);
            // the remaining size is at least the configured one
            assertThat(earliest(admin, "large")).isLessThanOrEqualTo(11);
            assertThat(earliest(admin, "old")).isLessThanOrEqualTo(20);
        }
    }

    @Test
    void shouldStampTheBrokersTimeWhereTheTopicSaysSo() throws Exception {
        broker.createTopic("t", 1, Map.of("message.timestamp.type", "LogAppendTime"));
        long beforeMs = System.currentTimeMillis();
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            assertThat(producer.send(new ProducerRecord<>("t", 0, 7L, null, new byte[1]))
                            .get(SECONDS, TimeUnit.SECONDS)
                            .timestamp())
                    .isGreaterThanOrEqualTo(beforeMs);
        }
        assertThat(broker.readAll(List.of(PARTITION), 1).get(0).timestamp()).isGreaterThanOrEqualTo(beforeMs);
    }

    private static long earliest(Admin admin, String topic) {
        TopicPartition partition = new TopicPartition(topic, 0);
        try {
            return admin.listOffsets(Map.of(partition, OffsetSpec.earliest()))
                    .partitionResult(partition)
                    .get(SECONDS, TimeUnit.SECONDS)
                    .offset();
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private static ListOffsetsResultInfo offset(Admin admin, OffsetSpec spec) throws Exception {
        return admin.listOffsets(Map.of(PARTITION, spec))
                .partitionResult(PARTITION)
                .get(SECONDS, TimeUnit.SECONDS);
    }

    private void produce(long... timestamps) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("linger.ms", 0))) {
            for (long timestampMs : timestamps) {
                var unused = producer.send(new ProducerRecord<>("t", 0, timestampMs, null, new byte[10]))
                        .get(SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    private static ListOffsetsResponse.ListOffsetsPartitionResponse list(
            WireClient client, String topic, int partition, long timestampMs, int leaderEpoch) throws Exception {
        int version = 9;
        int id = client.send(
                new ListOffsetsRequest()
                        .setReplicaId(-1)
                        .setTopics(List.of(new ListOffsetsRequest.ListOffsetsTopic()
                                .setName(topic)
                                .setPartitions(List.of(new ListOffsetsRequest.ListOffsetsPartition()
                                        .setPartitionIndex(partition)
                                        .setCurrentLeaderEpoch(leaderEpoch)
                                        .setTimestamp(timestampMs))))),
                version);
        return client.receive(ListOffsetsResponse.class, ApiKey.LIST_OFFSETS, version, id)
                .topics()
                .get(0)
                .partitions()
                .get(0);
    }

    private static OffsetForLeaderEpochResponse.EpochEndOffset end(WireClient client, int epoch) throws Exception {
        return end(client, -1, -1, epoch);
    }

    private static OffsetForLeaderEpochResponse.EpochEndOffset end(
            WireClient client, int replicaId, int currentEpoch, int epoch) throws Exception {
        int version = 4;
        int id = client.send(
                new OffsetForLeaderEpochRequest()
                        .setReplicaId(replicaId)
                        .setTopics(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderTopic()
                                .setTopic("t")
                                .setPartitions(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderPartition()
                                        .setPartition(0)
                                        .setCurrentLeaderEpoch(currentEpoch)
                                        .setLeaderEpoch(epoch))))),
                version);
        return client.receive(OffsetForLeaderEpochResponse.class, ApiKey.OFFSET_FOR_LEADER_EPOCH, version, id)
                .topics()
                .get(0)
                .partitions()
                .get(0);
    }
}
