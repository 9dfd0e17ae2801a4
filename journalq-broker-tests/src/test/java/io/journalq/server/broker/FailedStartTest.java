package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.control.Controller;
import io.journalq.server.journal.ShutdownMarker;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.memory.MemoryBudget;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FailedStartTest {
    private static final String CLEAN = "clean";

    @TempDir
    private Path directory;

    @BeforeEach
    void keepRecords() throws Exception {
        try (TestBroker broker = new TestBroker(directory).start()) {
            broker.createTopic("t", 2, Map.of());
            try (WireClient client = new WireClient(broker.port())) {
                client.produce("t", 0, WireClient.batch(1, "kept".getBytes(StandardCharsets.UTF_8)));
            }
        }
    }

    private String marker() throws IOException {
        return Files.readString(directory.resolve(ShutdownMarker.FILE_NAME));
    }

    private void assertServesItsRecords() throws Exception {
        try (TestBroker broker = new TestBroker(directory).start()) {
            assertThat(broker.readAll(List.of(new TopicPartition("t", 0)), 1)).hasSize(1);
        }
    }

    @Test
    void shouldCloseEveryJournalCleanlyWhenItsPortIsInUse() throws Exception {
        // given
        assertThat(marker()).isEqualTo(CLEAN);

        // when
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            TestBroker broker =
                    new TestBroker(directory).with("listeners", "PLAINTEXT://127.0.0.1:" + other.getLocalPort());
            assertThatThrownBy(broker::start)
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining("cannot listen on");
        }

        // then
        assertThat(marker()).isEqualTo(CLEAN);
        assertServesItsRecords();
    }

    @Test
    void shouldNotStartWhenItWasToldToStopBefore() throws Exception {
        AtomicReference<Broker> started = new AtomicReference<>();

        assertThatThrownBy(() -> started.set(Broker.start(new TestBroker(directory).config(), Broker::close)))
                .isInstanceOf(StartException.class)
                .hasMessageContaining("told to stop");

        assertServesItsRecords();
    }

    /** Fails the last write of a start, as if memory had run out. */
    private static final class NoMemoryStore extends FilterFileStore {
        NoMemoryStore() {
            super(new SystemFileStore());
        }

        @Override
        public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
            if (file.endsWith(ShutdownMarker.FILE_NAME) && sync) {
                throw new OutOfMemoryError("none is left");
            }
            super.replace(file, content, sync);
        }
    }

    @Test
    void shouldLeaveNothingOpenWhenMemoryRunsOut() throws Exception {
        // After a clean stop, the marker is written before partitions are opened.
        Files.delete(directory.resolve(ShutdownMarker.FILE_NAME));
        assertLeavesNothingOpen(new NoMemoryStore());
    }

    @Test
    void shouldLeaveNothingOpenWhenMemoryRunsOutAtTheMetadata() throws Exception {
        assertLeavesNothingOpen(new FilterFileStore(new SystemFileStore()) {
            @Override
            public LogFile open(Path file, boolean create) throws IOException {
                if (file.getParent().endsWith(MetadataLogOpener.METADATA_DIRECTORY)) {
                    throw new OutOfMemoryError("none is left");
                }
                return super.open(file, create);
            }
        });
    }

    @Test
    void shouldEndTheControllerWhenMemoryRunsOutBehindItsStart() throws Exception {
        BrokerConfig config =
                new TestBroker(directory).with("write.ahead.max.bytes", "0").config();
        ExecutorService pool = Executors.newCachedThreadPool();
        try (EventLoops loops = new EventLoops(1)) {
            boolean opened = false;
            for (int i = 0; !opened; i++) {
                // given a failure at each id that the broker makes, also behind the start of the controller
                AtomicInteger left = new AtomicInteger(i);
                ExecutorService controller = Controller.newThread();
                BrokerEnvironment environment = new BrokerEnvironment(
                        new MemoryFileStore(),
                        loops.cycles(),
                        pool,
                        controller,
                        MemoryBudget.of(1L << 30, part -> 0),
                        Clock.systemUTC(),
                        () -> {
                            if (left.getAndDecrement() == 0) {
                                throw new OutOfMemoryError("none is left");
                            }
                            return new Uuid(7, left.get());
                        },
                        CompletableFuture::join,
                        null);
                // when, then
                try {
                    BrokerCore.open(config, environment).close();
                    opened = true;
                } catch (OutOfMemoryError planted) {
                    assertThat(controller.isShutdown()).as("after %s ids", i).isTrue();
                }
            }
        } finally {
            pool.shutdownNow();
        }
    }

    private void assertLeavesNothingOpen(FileStore store) throws Exception {
        // when
        TestBroker broker = new TestBroker(directory);
        assertThatThrownBy(() -> broker.start(store)).isInstanceOf(OutOfMemoryError.class);

        // then its threads end, each a moment after it has said so
        broker.await(() -> Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .noneMatch(name -> name.startsWith("shard") || name.startsWith("journalq-controller")));
        assertServesItsRecords();
    }
}
