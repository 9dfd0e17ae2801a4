package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.OffsetForLeaderEpochRequest;
import io.journalq.common.protocol.message.OffsetForLeaderEpochResponse;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Recovery corrects leader epochs that are newer than the metadata's. Therefore, the metadata must be up to date before
 * a partition is opened.
 */
class RecoveredEpochsTest {
    private static final long SECONDS = 30;
    private static final int STARTS = 3;
    private static final String METADATA_LOG = "metadata/00000000000000000000.log";

    @TempDir
    Path directory;

    @Test
    void shouldKeepTheLeaderEpochOfEachRecordWhenKilledAfterEachStart() throws Exception {
        // given 2 records of each of 3 epochs; no epoch ends with a checkpoint, so that recovery reads every record
        for (int start = 0; start < STARTS; start++) {
            try (TestBroker broker = new TestBroker(data(start)).start()) {
                if (start == 0) {
                    broker.createTopic("t", 1, Map.of());
                }
                produce(broker);
                LostTails.copy(data(start), data(start + 1));
            }
        }

        // then
        try (TestBroker broker = new TestBroker(data(STARTS)).start();
                WireClient client = new WireClient(broker.port())) {
            for (int epoch = 0; epoch < STARTS; epoch++) {
                assertThat(endOffset(client, epoch)).as("epoch %d", epoch).isEqualTo(2L * (epoch + 1));
            }
        }
    }

    @Test
    void shouldOpenPartitionsOnlyWhenTheirNewLeaderEpochIsInTheMetadataLog() throws Exception {
        // given
        try (TestBroker broker = new TestBroker(data(0)).start()) {
            broker.createTopic("t", 1, Map.of());
            produce(broker);
        }
        long sizeBefore = Files.size(data(0).resolve(METADATA_LOG));

        // when
        List<Long> sizesAtOpening = new ArrayList<>();
        FilterFileStore store = new FilterFileStore(new SystemFileStore()) {
            @Override
            public List<String> list(Path listed) throws IOException {
                if (data(0).equals(listed.getParent()) && listed.toString().endsWith("-0")) {
                    sizesAtOpening.add(Files.size(data(0).resolve(METADATA_LOG)));
                }
                return super.list(listed);
            }
        };
        try (TestBroker broker = new TestBroker(data(0)).start(store)) {
            broker.await(() -> !sizesAtOpening.isEmpty());
        }

        // then the first record of the start, which begins the epochs, was written before
        assertThat(sizesAtOpening).isNotEmpty().allSatisfy(size -> assertThat(size)
                .isGreaterThan(sizeBefore));
    }

    private Path data(int start) {
        return directory.resolve("start-" + start);
    }

    private static void produce(TestBroker broker) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("linger.ms", 0))) {
            for (int i = 0; i < 2; i++) {
                var unused = producer.send(new ProducerRecord<>("t", 0, null, new byte[10]))
                        .get(SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    private static long endOffset(WireClient client, int epoch) throws Exception {
        int version = 4;
        int id = client.send(
                new OffsetForLeaderEpochRequest()
                        .setReplicaId(-1)
                        .setTopics(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderTopic()
                                .setTopic("t")
                                .setPartitions(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderPartition()
                                        .setPartition(0)
                                        .setCurrentLeaderEpoch(-1)
                                        .setLeaderEpoch(epoch))))),
                version);
        return client.receive(OffsetForLeaderEpochResponse.class, ApiKey.OFFSET_FOR_LEADER_EPOCH, version, id)
                .topics()
                .get(0)
                .partitions()
                .get(0)
                .endOffset();
    }
}
