package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.ProduceResponse.PartitionProduceResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Idempotent producers (KIP-98), also across restarts. */
class IdempotenceTest {
    private static final byte[] VALUE = "value".getBytes(UTF_8);
    private static final short EPOCH = 0;

    @TempDir
    private Path dataDirectory;

    @Test
    void shouldGiveEveryProducerAnIdOfItsOwnAlsoAfterARestart() throws Exception {
        long last = -1;
        try (TestBroker broker = new TestBroker(dataDirectory)) {
            for (int run = 0; run < 3; run++) {
                broker.start();
                try (WireClient client = new WireClient(broker.port())) {
                    for (int i = 0; i < 1_500; i += 1 + 500 * (i % 2)) {
                        InitProducerIdResponse response = client.call(
                                InitProducerIdResponse.class, new InitProducerIdRequest().setTransactionalId(null), 5);
                        assertThat(response.errorCode()).isZero();
                        assertThat(response.producerEpoch()).isZero();
                        assertThat(response.producerId()).isGreaterThan(last);
                        last = response.producerId();
                    }
                    assertThat(client.call(
                                            InitProducerIdResponse.class,
                                            new InitProducerIdRequest().setTransactionalId("tx"),
                                            5)
                                    .errorCode())
                            .isEqualTo(ErrorCode.COORDINATOR_NOT_AVAILABLE.code());
                }
                broker.stop();
            }
        }
    }

    @ParameterizedTest(name = "stopped cleanly: {0}")
    @ValueSource(booleans = {true, false})
    void shouldRepeatTheFirstResponseWhenABatchIsRetriedAfterARestart(boolean stoppedCleanly) throws Exception {
        Path crashed = dataDirectory.resolve("crashed");
        Path data = dataDirectory.resolve("data");
        try (TestBroker broker = new TestBroker(data).start()) {
            // given batches of two producers, over several segments
            broker.createTopic("t", 1, Map.of("segment.bytes", "2000"));
            try (WireClient client = new WireClient(broker.port())) {
                for (int i = 0; i < 40; i++) {
                    assertOffset(produce(client, 1, i * 2), i * 4L);
                    assertOffset(produce(client, 2, i * 2), i * 4L + 2);
                }
                assertOffset(produce(client, 1, 78), 156);
            }
            if (!stoppedCleanly) {
                DataCopy.ofKilled(data, crashed);
            }
        }
        // when the broker is restarted
        try (TestBroker broker = new TestBroker(stoppedCleanly ? data : crashed).start();
                WireClient client = new WireClient(broker.port())) {
            // then it still knows the last five batches of each, and the next sequence number
            for (int i = 39; i > 34; i--) {
                assertOffset(produce(client, 1, i * 2), i * 4L);
                assertOffset(produce(client, 2, i * 2), i * 4L + 2);
            }
            // and that the older ones are there
            assertThat(produce(client, 1, 0).errorCode()).isEqualTo(ErrorCode.DUPLICATE_SEQUENCE_NUMBER.code());
            assertThat(produce(client, 1, 82).errorCode()).isEqualTo(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER.code());
            assertOffset(produce(client, 1, 80), 160);
            // and there are no duplicates
            assertThat(broker.readAll(List.of(new TopicPartition("t", 0)), 162)).hasSize(162);
        }
    }

    @Test
    void shouldFenceAnOlderEpoch() throws Exception {
        try (TestBroker broker = new TestBroker(dataDirectory).start();
                WireClient client = new WireClient(broker.port())) {
            broker.createTopic("t", 1, Map.of());
            assertThat(client.produce("t", 0, WireClient.batch(1, VALUE, 1, (short) 1, 0))
                            .errorCode())
                    .isZero();
            assertThat(client.produce("t", 0, WireClient.batch(1, VALUE, 1, (short) 0, 1))
                            .errorCode())
                    .isEqualTo(ErrorCode.INVALID_PRODUCER_EPOCH.code());
        }
    }

    @Test
    void shouldRespondToADuplicateInTheSameReadCycleOnlyAfterTheFirstIsWritten() throws Exception {
        // given a consistent topic, so that responses wait for the disk
        try (TestBroker broker = new TestBroker(dataDirectory).start();
                WireClient client = new WireClient(broker.port())) {
            broker.createTopic("t", 1, Map.of("delivery.mode", "consistent"));
            // when a batch and its copy are sent together
            java.io.ByteArrayOutputStream both = new java.io.ByteArrayOutputStream();
            for (int i = 1; i <= 2; i++) {
                both.write(WireClient.frame(
                        i, WireClient.produceRequest("t", 0, WireClient.batch(3, VALUE, 9, EPOCH, 0)), 12));
            }
            client.out.write(both.toByteArray());
            // then both responses have the same offset, and the batch is stored once
            for (int i = 1; i <= 2; i++) {
                assertOffset(
                        client.receive(
                                        io.journalq.common.protocol.message.ProduceResponse.class,
                                        io.journalq.common.protocol.ApiKey.PRODUCE,
                                        12,
                                        i)
                                .responses()
                                .get(0)
                                .partitionResponses()
                                .get(0),
                        0);
            }
            assertThat(broker.readAll(List.of(new TopicPartition("t", 0)), 3)).hasSize(3);
        }
    }

    private static PartitionProduceResponse produce(WireClient client, long producerId, int sequence)
            throws IOException {
        return client.produce("t", 0, WireClient.batch(2, VALUE, producerId, EPOCH, sequence));
    }

    private static void assertOffset(PartitionProduceResponse response, long offset) {
        assertThat(response.errorCode()).isZero();
        assertThat(response.baseOffset()).isEqualTo(offset);
    }
}
