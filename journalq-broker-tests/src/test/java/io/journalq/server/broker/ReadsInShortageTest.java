package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.ReadReplicaRequest;
import io.journalq.common.protocol.message.ReadReplicaResponse;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadsInShortageTest {
    private static final int VERSION = 12;
    private static final int MAX_WAIT_MS = 20_000;
    private static final int SOCKET_TIMEOUT_MS = 8_000;

    @TempDir
    private Path directory;

    /** How many of the next reads of a log find no memory. */
    private final AtomicInteger shortages = new AtomicInteger();

    private final class Files extends FilterFileStore {
        Files() {
            super(new SystemFileStore());
        }

        @Override
        public LogFile open(Path file, boolean create) throws IOException {
            LogFile opened = super.open(file, create);
            return new FilterLogFile(opened) {
                @Override
                public int read(ByteBuffer target, long position) throws IOException {
                    if (file.toString().endsWith(".log") && shortages.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                        throw new OutOfMemoryError("no direct memory");
                    }
                    return delegate.read(target, position);
                }
            };
        }
    }

    @Test
    void shouldRespondToAParkedFetchWhenMemoryRunsOutAtItsRecords() throws Exception {
        try (TestBroker broker = new TestBroker(directory).start(new Files())) {
            broker.createTopic("t", 2, Map.of());
            try (WireClient consumer = new WireClient(broker.port());
                    WireClient producer = new WireClient(broker.port())) {
                // given
                int waiting = consumer.send(fetch().setMinBytes(1).setMaxWaitMs(MAX_WAIT_MS), VERSION);
                Thread.sleep(200);
                consumer.socket.setSoTimeout(SOCKET_TIMEOUT_MS);

                // when
                shortages.set(1);
                assertThat(producer.produce("t", 0, WireClient.batch(1, new byte[100]))
                                .errorCode())
                        .isZero();

                // then
                FetchResponse response = consumer.receive(FetchResponse.class, ApiKey.FETCH, VERSION, waiting);
                assertThat(shortages).hasValue(0);
                assertThat(response.errorCode()).isEqualTo(ErrorCode.NONE.code());
                // and the client gets the records when it asks again
                FetchResponse again = consumer.call(FetchResponse.class, fetch(), VERSION);
                assertThat(again.responses()
                                .get(0)
                                .partitions()
                                .get(0)
                                .records()
                                .sizeBytes())
                        .isPositive();
            }
        }
    }

    @Test
    void shouldRespondWhenMemoryRunsOutWhileBatchesAreSearched() throws Exception {
        int partitions = 6;
        try (TestBroker broker = new TestBroker(directory).with("shards", "3").start(new Files())) {
            broker.createTopic("t", partitions, Map.of());
            for (int partition = 0; partition < partitions; partition++) {
                try (WireClient consumer = new WireClient(broker.port());
                        WireClient producer = new WireClient(broker.port())) {
                    // given several batches; a fetch takes one of them
                    for (int i = 0; i < 3; i++) {
                        producer.produce("t", partition, WireClient.batch(1, new byte[100]));
                    }
                    consumer.socket.setSoTimeout(SOCKET_TIMEOUT_MS);

                    // when
                    shortages.set(1);
                    FetchResponse response = consumer.call(FetchResponse.class, fetch(partition, 150), VERSION);

                    // then
                    assertThat(shortages).hasValue(0);
                    assertThat(response.responses().get(0).partitions().get(0).errorCode())
                            .isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
                    FetchResponse again = consumer.call(FetchResponse.class, fetch(partition, 150), VERSION);
                    assertThat(again.responses()
                                    .get(0)
                                    .partitions()
                                    .get(0)
                                    .records()
                                    .sizeBytes())
                            .isPositive();
                }
            }
        }
    }

    @Test
    void shouldRespondWhenMemoryRunsOutWhileAReplicaIsRead() throws Exception {
        try (TestBroker broker = new TestBroker(directory).start(new Files())) {
            broker.createTopic("t", 1, Map.of());
            try (WireClient client = new WireClient(broker.port())) {
                client.produce("t", 0, WireClient.batch(1, new byte[100]));
                client.socket.setSoTimeout(SOCKET_TIMEOUT_MS);
                ReadReplicaRequest request = new ReadReplicaRequest()
                        .setTopicId(idOfTopic(broker))
                        .setOffset(0)
                        .setEndOffset(1)
                        .setMaxBytes(1_000_000);

                // when
                shortages.set(1);
                ReadReplicaResponse response = client.call(ReadReplicaResponse.class, request, 0);

                // then
                assertThat(shortages).hasValue(0);
                assertThat(response.errorCode()).isEqualTo(ErrorCode.REQUEST_TIMED_OUT.code());
                assertThat(client.call(ReadReplicaResponse.class, request, 0).batches())
                        .isEqualTo(1);
            }
        }
    }

    private static Uuid idOfTopic(TestBroker broker) throws Exception {
        try (Admin admin = broker.admin()) {
            org.apache.kafka.common.Uuid id = admin.describeTopics(List.of("t"))
                    .allTopicNames()
                    .get(20, TimeUnit.SECONDS)
                    .get("t")
                    .topicId();
            return new Uuid(id.getMostSignificantBits(), id.getLeastSignificantBits());
        }
    }

    private static FetchRequest fetch() {
        return fetch(0, 1_000_000);
    }

    private static FetchRequest fetch(int partition, int maxBytes) {
        return new FetchRequest()
                .setSessionId(0)
                .setSessionEpoch(-1)
                .setMaxBytes(1_000_000)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic("t")
                        .setPartitions(List.of(new FetchRequest.FetchPartition()
                                .setPartition(partition)
                                .setFetchOffset(0)
                                .setPartitionMaxBytes(maxBytes)))));
    }
}
