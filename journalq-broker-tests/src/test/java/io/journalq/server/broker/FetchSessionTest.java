package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.FetchResponse.PartitionData;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fetch sessions (KIP-227), wait times, and limits, over three shards. */
class FetchSessionTest {
    private static final byte[] VALUE = new byte[100];
    private static final int VERSION = 12;
    private static final int PARTITIONS = 6;
    private static final long SHUTDOWN_TIMEOUT_MS = 60_000;

    @TempDir
    private Path dataDirectory;

    private TestBroker broker;
    private WireClient client;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("shards", "3")
                .with("shutdown.timeout.ms", Long.toString(SHUTDOWN_TIMEOUT_MS))
                .start();
        broker.createTopic("t", PARTITIONS, Map.of());
        client = new WireClient(broker.port());
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        broker.close();
    }

    @Test
    void shouldTellOnlyOfPartitionsWithNewsWhenTheSessionGoesOn() throws Exception {
        // given a session on all partitions, and records in two of them
        produce(1, 2);
        produce(4, 3);
        FetchResponse first = fetch(request(0, 0).setTopics(all(0)));
        assertThat(first.sessionId()).isPositive();
        assertThat(byPartition(first)).hasSize(PARTITIONS);
        assertThat(recordCount(byPartition(first).get(1))).isEqualTo(2);
        assertThat(recordCount(byPartition(first).get(4))).isEqualTo(3);
        int session = first.sessionId();
        // when the client continues after these records, then the response is empty
        FetchResponse second = fetch(request(session, 1).setTopics(topics(Map.of(1, 2L, 4, 3L))));
        assertThat(second.errorCode()).isZero();
        assertThat(second.sessionId()).isEqualTo(session);
        assertThat(second.responses()).isEmpty();
        // and after an append it contains only that partition
        produce(4, 1);
        FetchResponse third = fetch(request(session, 2));
        assertThat(byPartition(third).keySet()).containsExactly(4);
        assertThat(byPartition(third).get(4).highWatermark()).isEqualTo(4);
        assertThat(recordCount(byPartition(third).get(4))).isEqualTo(1);
        // and again the same if the client does not advance
        assertThat(byPartition(fetch(request(session, 3))).keySet()).containsExactly(4);
        // and no removed partition
        produce(1, 1);
        FetchResponse fifth = fetch(request(session, 4)
                .setForgottenTopicsData(
                        List.of(new FetchRequest.ForgottenTopic().setTopic("t").setPartitions(List.of(4)))));
        assertThat(byPartition(fifth).keySet()).containsExactly(1);
    }

    @Test
    void shouldRefuseASessionThatIsUnknownOrOutOfStep() throws Exception {
        int session = fetch(request(0, 0).setTopics(all(0))).sessionId();
        assertThat(fetch(request(session + 1, 1)).errorCode()).isEqualTo(ErrorCode.FETCH_SESSION_ID_NOT_FOUND.code());
        assertThat(fetch(request(session, 2)).errorCode()).isEqualTo(ErrorCode.INVALID_FETCH_SESSION_EPOCH.code());
        assertThat(fetch(request(session, 1)).errorCode()).isZero();
        FetchResponse byId = client.call(FetchResponse.class, request(session, 2), 13);
        assertThat(byId.errorCode()).isEqualTo(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR.code());
        // when the session is ended, then it is unknown
        assertThat(fetch(request(session, -1)).sessionId()).isZero();
        assertThat(fetch(request(session, 2)).errorCode()).isEqualTo(ErrorCode.FETCH_SESSION_ID_NOT_FOUND.code());
        // and a session of another connection is unknown too
        int other = fetch(request(0, 0).setTopics(all(0))).sessionId();
        try (WireClient second = new WireClient(broker.port())) {
            assertThat(second.call(FetchResponse.class, request(other, 1), VERSION)
                            .errorCode())
                    .isEqualTo(ErrorCode.FETCH_SESSION_ID_NOT_FOUND.code());
        }
    }

    @ParameterizedTest(name = "in a session: {0}")
    @ValueSource(booleans = {true, false})
    void shouldWaitUntilAllPartitionsTogetherHaveEnough(boolean inSession) throws Exception {
        // given a fetch that waits for 1,000 bytes, over partitions of all shards
        int session = inSession ? fetch(request(0, 0).setTopics(all(0))).sessionId() : 0;
        FetchRequest waiting =
                request(session, inSession ? 1 : -1).setMinBytes(1_000).setMaxWaitMs(60_000);
        if (!inSession) {
            waiting.setTopics(all(0));
        }
        int id = client.send(waiting, VERSION);
        try (WireClient producer = new WireClient(broker.port())) {
            // when batches of about 170 bytes arrive, each in another partition
            for (int i = 0; i < PARTITIONS; i++) {
                Thread.sleep(20);
                assertThat(client.in.available())
                        .as("response after %d batches", i)
                        .isZero();
                producer.produce("t", i, WireClient.batch(1, VALUE));
            }
            // then the response is sent once there is enough, long before the wait time has passed
            long startNanos = System.nanoTime();
            FetchResponse response = client.receive(FetchResponse.class, ApiKey.FETCH, VERSION, id);
            assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos))
                    .isLessThan(30_000);
            int size = byPartition(response).values().stream()
                    .mapToInt(data -> data.records().sizeBytes())
                    .sum();
            assertThat(size).isGreaterThanOrEqualTo(1_000);
        }
    }

    @Test
    void shouldRespondWithAvailableDataWhenTheWaitTimeHasPassed() throws Exception {
        produce(0, 1);
        long startNanos = System.nanoTime();
        FetchResponse response =
                fetch(request(0, -1).setTopics(all(0)).setMinBytes(10_000).setMaxWaitMs(200));
        assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos))
                .isBetween(190L, 5_000L);
        assertThat(recordCount(byPartition(response).get(0))).isEqualTo(1);
    }

    @Test
    void shouldRespondToLaterRequestsInOrderBehindAParkedFetch() throws Exception {
        // given a fetch that waits, and then a produce request to the same partition on the same connection
        int fetchId =
                client.send(request(0, -1).setTopics(all(0)).setMinBytes(1).setMaxWaitMs(20_000), VERSION);
        int produceId = client.send(WireClient.produceRequest("t", 3, WireClient.batch(1, VALUE)), 12);
        // then it wakes the fetch, and both responses arrive in order
        FetchResponse response = client.receive(FetchResponse.class, ApiKey.FETCH, VERSION, fetchId);
        assertThat(recordCount(byPartition(response).get(3))).isEqualTo(1);
        client.receive(io.journalq.common.protocol.message.ProduceResponse.class, ApiKey.PRODUCE, 12, produceId);
    }

    @Test
    void shouldKeepToTheLimitsButGiveTheFirstBatch() throws Exception {
        // given five batches of more than 1,000 bytes in each partition
        for (int partition = 0; partition < PARTITIONS; partition++) {
            for (int i = 0; i < 5; i++) {
                client.produce("t", partition, WireClient.batch(1, new byte[1_000]));
            }
        }
        // when less than one batch is requested, then one is returned
        FetchResponse one = fetch(request(0, -1).setTopics(all(0)).setMaxBytes(10));
        assertThat(totalRecords(one)).isEqualTo(1);
        // when there is room for three, then no more are returned, although several shards read at the same time
        FetchResponse three = fetch(request(0, -1).setTopics(all(0)).setMaxBytes(3_300));
        assertThat(totalRecords(three)).isBetween(1, 3);
        // when a session reads repeatedly within the limit, then every batch is returned once
        FetchResponse response = fetch(request(0, 0).setTopics(all(0)).setMaxBytes(3_300));
        int session = response.sessionId();
        long[] next = new long[PARTITIONS];
        int total = 0;
        for (int epoch = 1; total < 5 * PARTITIONS; epoch++) {
            Map<Integer, Long> moved = new TreeMap<>();
            for (PartitionData data : byPartition(response).values()) {
                int count = recordCount(data);
                total += count;
                next[data.partitionIndex()] += count;
                if (count > 0) {
                    moved.put(data.partitionIndex(), next[data.partitionIndex()]);
                }
            }
            assertThat(epoch).as("fetches needed").isLessThan(40);
            response = fetch(request(session, epoch).setTopics(topics(moved)).setMaxBytes(3_300));
        }
        assertThat(total).isEqualTo(5 * PARTITIONS);
    }

    @Test
    void shouldSayWhatIsWrongWithAPartition() throws Exception {
        produce(0, 2);
        FetchResponse response = fetch(request(0, -1)
                .setMinBytes(1)
                .setMaxWaitMs(10_000)
                .setTopics(List.of(
                        new FetchRequest.FetchTopic()
                                .setTopic("t")
                                .setPartitions(List.of(
                                        part(0, 3),
                                        part(1, -1),
                                        part(9, 0),
                                        part(2, 0).setCurrentLeaderEpoch(7))),
                        new FetchRequest.FetchTopic().setTopic("nothing").setPartitions(List.of(part(0, 0))))));
        List<PartitionData> responses = response.responses().get(0).partitions();
        assertThat(responses.get(0).errorCode()).isEqualTo(ErrorCode.OFFSET_OUT_OF_RANGE.code());
        assertThat(responses.get(0).highWatermark()).isEqualTo(2);
        assertThat(responses.get(1).errorCode()).isEqualTo(ErrorCode.OFFSET_OUT_OF_RANGE.code());
        assertThat(responses.get(2).errorCode()).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
        assertThat(responses.get(3).errorCode()).isEqualTo(ErrorCode.UNKNOWN_LEADER_EPOCH.code());
        assertThat(response.responses().get(1).partitions().get(0).errorCode())
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
        FetchResponse byId = client.call(
                FetchResponse.class,
                request(0, -1)
                        .setTopics(List.of(new FetchRequest.FetchTopic()
                                .setTopicId(new Uuid(3, 4))
                                .setPartitions(List.of(part(0, 0))))),
                17);
        assertThat(byId.responses().get(0).partitions().get(0).errorCode())
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_ID.code());
    }

    @Test
    void shouldTellAWaitingFetchWhenItsTopicIsDeleted() throws Exception {
        long requests = broker.network().requests();
        int id = client.send(request(0, -1).setTopics(all(0)).setMinBytes(1).setMaxWaitMs(60_000), VERSION);
        broker.await(() -> broker.network().requests() > requests);
        try (Admin admin = broker.admin()) {
            admin.deleteTopics(List.of("t")).all().get(30, TimeUnit.SECONDS);
        }
        long startNanos = System.nanoTime();
        FetchResponse response = client.receive(FetchResponse.class, ApiKey.FETCH, VERSION, id);
        assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos))
                .isLessThan(30_000);
        assertThat(byPartition(response).values()).anySatisfy(data -> assertThat(data.errorCode())
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code()));
    }

    @Test
    void shouldRespondToAParkedFetchAtOnceWhenItsSessionIsClosed() throws Exception {
        // given a fetch that waits, like that of a consumer which is closed
        int session = fetch(request(0, 0).setTopics(all(0))).sessionId();
        int waiting = client.send(request(session, 1).setMinBytes(1).setMaxWaitMs(60_000), VERSION);

        // when the client ends the session with its next request
        long startNanos = System.nanoTime();
        int end = client.send(request(session, -1), VERSION);

        // then the response does not wait until the wait time of the fetch has passed
        assertThat(client.receive(FetchResponse.class, ApiKey.FETCH, VERSION, waiting)
                        .errorCode())
                .isEqualTo(ErrorCode.FETCH_SESSION_ID_NOT_FOUND.code());
        assertThat(client.receive(FetchResponse.class, ApiKey.FETCH, VERSION, end)
                        .sessionId())
                .isZero();
        assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos))
                .isLessThan(30_000);
    }

    @Test
    void shouldRespondToParkedFetchesAtOnceWhenTheBrokerStops() throws Exception {
        long requests = broker.network().requests();
        int id = client.send(request(0, -1).setTopics(all(0)).setMinBytes(1).setMaxWaitMs(120_000), VERSION);
        broker.await(() -> broker.network().requests() > requests);
        long startNanos = System.nanoTime();
        broker.stop();
        assertThat(client.receive(FetchResponse.class, ApiKey.FETCH, VERSION, id)
                        .errorCode())
                .isZero();
        assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos))
                .isLessThan(SHUTDOWN_TIMEOUT_MS);
    }

    /**
     * Random sessions against a model of what each session must still return: nothing is lost, whatever changes in the
     * meantime.
     */
    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldLoseNothingWhateverASessionDoes(long seed) throws Exception {
        Random random = new Random(seed);
        long[] appended = new long[PARTITIONS];
        Map<Integer, Long> position = new LinkedHashMap<>();
        Map<Integer, Long> moved = new TreeMap<>();
        int session = 0;
        int epoch = 0;
        for (int step = 0; step < 400; step++) {
            for (int i = random.nextInt(3); i > 0; i--) {
                int partition = random.nextInt(PARTITIONS);
                produce(partition, 1);
                appended[partition]++;
            }
            FetchRequest request = request(session, epoch).setMinBytes(1).setMaxWaitMs(random.nextInt(3));
            request.setMaxBytes(random.nextInt(5) == 0 ? 200 : 100_000);
            // First the records since the previous request, because a jump in this request takes effect after them.
            Map<Integer, Long> changed = new TreeMap<>(moved);
            moved.clear();
            if (epoch == 0) {
                position.clear();
                for (int i = 0; i < PARTITIONS; i++) {
                    position.put(i, 0L);
                }
                changed.putAll(position);
            } else if (random.nextInt(4) == 0) {
                int partition = random.nextInt(PARTITIONS);
                position.put(partition, (long) random.nextInt((int) appended[partition] + 1));
                changed.put(partition, position.get(partition));
            }
            FetchResponse response = fetch(request.setTopics(topics(changed)));
            assertThat(response.errorCode()).as("seed %d step %d", seed, step).isZero();
            session = response.sessionId();
            Map<Integer, PartitionData> told = byPartition(response);
            boolean limited = request.maxBytes() == 200;
            for (int i = 0; i < PARTITIONS; i++) {
                PartitionData data = told.get(i);
                int count = data == null ? 0 : recordCount(data);
                long expected = appended[i] - position.get(i);
                assertThat(count)
                        .as("seed %d step %d partition %d", seed, step, i)
                        .isLessThanOrEqualTo((int) expected);
                if (!limited) {
                    assertThat(count)
                            .as("seed %d step %d partition %d", seed, step, i)
                            .isEqualTo((int) expected);
                }
                if (count > 0) {
                    position.merge(i, (long) count, Long::sum);
                    moved.put(i, position.get(i));
                }
            }
            epoch = random.nextInt(40) == 0 ? 0 : epoch + 1;
            if (epoch == 0) {
                moved.clear();
            }
        }
    }

    @Test
    void shouldSeeNewRecordsWhenASessionNoLongerReadsOnlyCommittedOnes() throws Exception {
        // given a transaction that goes on, and a session that has parked behind it
        Map<String, Object> transactional = Map.of("transactional.id", "open", "max.block.ms", 20_000);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(transactional)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("t", 0, null, VALUE)).get(20, TimeUnit.SECONDS);
            FetchResponse first =
                    fetch(request(0, 0).setIsolationLevel((byte) 1).setTopics(topics(Map.of(0, 1L))));
            int session = first.sessionId();
            fetch(request(session, 1).setIsolationLevel((byte) 1).setMinBytes(1).setMaxWaitMs(50));

            // when it waits for all records
            int waiting = client.send(
                    request(session, 2)
                            .setIsolationLevel((byte) 0)
                            .setMinBytes(1)
                            .setMaxWaitMs(15_000),
                    VERSION);
            Thread.sleep(200);
            long producedNanos = System.nanoTime();
            producer.send(new ProducerRecord<>("t", 0, null, VALUE)).get(20, TimeUnit.SECONDS);
            FetchResponse response = client.receive(FetchResponse.class, ApiKey.FETCH, VERSION, waiting);

            // then
            assertThat(totalRecords(response)).isEqualTo(1);
            assertThat(System.nanoTime() - producedNanos).isLessThan(TimeUnit.SECONDS.toNanos(10));
            producer.abortTransaction();
        }
    }

    private void produce(int partition, int count) throws IOException {
        assertThat(client.produce("t", partition, WireClient.batch(count, VALUE))
                        .errorCode())
                .isZero();
    }

    private FetchResponse fetch(FetchRequest request) throws IOException {
        return client.call(FetchResponse.class, request, VERSION);
    }

    private static FetchRequest request(int session, int epoch) {
        return new FetchRequest().setSessionId(session).setSessionEpoch(epoch).setMaxBytes(10_000_000);
    }

    private static FetchRequest.FetchPartition part(int partition, long offset) {
        return new FetchRequest.FetchPartition()
                .setPartition(partition)
                .setFetchOffset(offset)
                .setPartitionMaxBytes(1_000_000);
    }

    private static List<FetchRequest.FetchTopic> all(long offset) {
        Map<Integer, Long> offsets = new TreeMap<>();
        for (int i = 0; i < PARTITIONS; i++) {
            offsets.put(i, offset);
        }
        return topics(offsets);
    }

    private static List<FetchRequest.FetchTopic> topics(Map<Integer, Long> offsetByPartition) {
        List<FetchRequest.FetchPartition> parts = new ArrayList<>();
        offsetByPartition.forEach((partition, offset) -> parts.add(part(partition, offset)));
        return parts.isEmpty()
                ? List.of()
                : List.of(new FetchRequest.FetchTopic().setTopic("t").setPartitions(parts));
    }

    private static Map<Integer, PartitionData> byPartition(FetchResponse response) {
        Map<Integer, PartitionData> byPartition = new TreeMap<>();
        response.responses()
                .forEach(topic -> topic.partitions().forEach(data -> byPartition.put(data.partitionIndex(), data)));
        return byPartition;
    }

    private static int totalRecords(FetchResponse response) {
        return byPartition(response).values().stream()
                .mapToInt(FetchSessionTest::recordCount)
                .sum();
    }

    private static int recordCount(PartitionData data) {
        ByteBuf records = data.records().buffer();
        int count = 0;
        int index = records.readerIndex();
        while (index < records.writerIndex()) {
            count += RecordBatch.recordCount(records, index);
            index += RecordBatch.sizeBytes(records, index);
        }
        return count;
    }
}
