package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SystemFileStore;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records that may not be in the page cache, like all records after a restart, are read off the loops. */
class ColdReadTest {
    private static final int BATCHES = 40;
    private static final int VALUE_SIZE_BYTES = 50_000;
    private static final int FETCH_BY_NAME = 12;

    @TempDir
    private Path directory;

    /** Threads that read a log file, or passed one to a socket, since the restart. */
    private final Queue<String> readers = new ConcurrentLinkedQueue<>();

    private volatile boolean failing;
    private TestBroker broker;

    @BeforeEach
    void fillAndStartAgain() throws Exception {
        broker = new TestBroker(directory).start();
        broker.createTopic("t", 1, Map.of());
        Random random = new Random(3);
        try (WireClient client = new WireClient(broker.port())) {
            for (int i = 0; i < BATCHES; i++) {
                byte[] value = new byte[VALUE_SIZE_BYTES];
                random.nextBytes(value);
                value[0] = (byte) i;
                assertThat(client.produce("t", 0, WireClient.batch(1, value)).errorCode())
                        .isEqualTo(ErrorCode.NONE.code());
            }
        }
        broker.stop();
        broker.start(watchedStore());
        readers.clear();
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldReadOffTheLoopsWhatIsNotSurelyInMemory() {
        List<ConsumerRecord<byte[], byte[]>> records = broker.readAll(List.of(new TopicPartition("t", 0)), BATCHES);

        assertThat(records).hasSize(BATCHES);
        for (int i = 0; i < BATCHES; i++) {
            assertThat(records.get(i).value()).hasSize(VALUE_SIZE_BYTES).startsWith((byte) i);
        }
        assertThat(readers).isNotEmpty().allMatch(thread -> thread.startsWith("journalq-blocking"));
    }

    @Test
    void shouldRespondWithAStorageErrorWhenTheDiskFailsUnderARead() throws Exception {
        failing = true;
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(fetch(client).errorCode()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());

            failing = false;

            FetchResponse.PartitionData data = fetch(client);
            assertThat(data.errorCode()).isEqualTo(ErrorCode.NONE.code());
            assertThat(data.records().sizeBytes()).isGreaterThan(VALUE_SIZE_BYTES);
        }
    }

    private static FetchResponse.PartitionData fetch(WireClient client) throws IOException {
        FetchRequest request = new FetchRequest()
                .setMaxWaitMs(0)
                .setMaxBytes(1_000_000)
                .setSessionEpoch(-1)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic("t")
                        .setPartitions(List.of(new FetchRequest.FetchPartition()
                                .setPartition(0)
                                .setPartitionMaxBytes(1_000_000)))));
        return client.call(FetchResponse.class, request, FETCH_BY_NAME)
                .responses()
                .get(0)
                .partitions()
                .get(0);
    }

    private FileStore watchedStore() {
        return new FilterFileStore(new SystemFileStore()) {
            @Override
            public LogFile open(Path file, boolean create) throws IOException {
                LogFile opened = super.open(file, create);
                return file.toString().endsWith(".log") ? new WatchedFile(opened) : opened;
            }
        };
    }

    private final class WatchedFile extends FilterLogFile {
        WatchedFile(LogFile file) {
            super(file);
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            readers.add(Thread.currentThread().getName());
            if (failing) {
                throw new IOException("Input/output error");
            }
            return super.read(target, position);
        }

        @Override
        public FileRegion region(long position, int sizeBytes, Runnable onRelease) {
            readers.add(Thread.currentThread().getName());
            return super.region(position, sizeBytes, onRelease);
        }
    }
}
