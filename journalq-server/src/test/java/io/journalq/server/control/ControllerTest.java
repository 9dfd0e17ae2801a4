package io.journalq.server.control;

import static io.journalq.server.control.ControllerFixture.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import io.journalq.server.control.Controller.ConfigChange;
import io.journalq.server.control.Controller.PartitionsSpec;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.PartitionImage;
import io.journalq.server.metadata.TopicSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControllerTest {
    private final FileStore store = new MemoryFileStore();
    private final AtomicLong lastId = new AtomicLong();

    @Test
    void shouldKeepTheClusterIdForEver() throws Exception {
        String clusterId;
        try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
            clusterId = broker.image().clusterId();
        }

        try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
            assertThat(broker.image().clusterId()).isEqualTo(clusterId).hasSize(22);
        }
    }

    @Test
    void shouldHaveEverythingAgainWhenItStartsAgain() throws Exception {
        MetadataImage before;
        try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
            broker.create(new TopicSpec("kept", 2, 1, List.of(), Map.of("retention.ms", "5")));
            broker.create("gone", 3);
            await(broker.controller.createPartitions(List.of(new PartitionsSpec("kept", 4, List.of())), false));
            await(broker.controller.alterTopicConfigs(
                    List.of(new ConfigChange("kept", () -> Map.of("segment.bytes", "2048"))), false));
            await(broker.controller.deleteTopics(
                    List.of(broker.image().topic("gone").id())));
            before = broker.image();
        }

        try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
            assertThat(broker.image().topics()).hasSize(1);
            assertThat(broker.image().topic("kept").id())
                    .isEqualTo(before.topic("kept").id());
            assertThat(broker.image().topic("kept").configs())
                    .isEqualTo(Map.of("retention.ms", "5", "segment.bytes", "2048"));
            assertThat(broker.image().topic("kept").partitions()).hasSize(4);
        }
    }

    @Test
    void shouldLeadInANewEpochAfterEveryStart() throws Exception {
        try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
            broker.create("orders", 2);
            assertThat(broker.image().topic("orders").partitions())
                    .extracting(PartitionImage::leaderEpoch)
                    .containsOnly(0);
        }
        for (int start = 1; start <= 3; start++) {
            try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
                assertThat(broker.image().topic("orders").partitions())
                        .extracting(PartitionImage::leaderEpoch)
                        .containsOnly(start);
            }
        }
    }

    @Test
    void shouldPublishBeforeItRespondsAndPassBothImagesToListeners() throws Exception {
        try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
            List<String> seen = new ArrayList<>();
            broker.publisher.addListener(
                    (before, now) -> seen.add((before.topic("orders") == null) + " " + (now.topic("orders") == null)));

            broker.create("orders", 1);

            assertThat(broker.image().topic("orders")).isNotNull();
            assertThat(seen).containsExactly("true false");
        }
    }

    @Test
    void shouldCreateNothingWhenItOnlyValidates() throws Exception {
        try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
            List<TopicSpec> specs = List.of(
                    new TopicSpec("good", 1, 1, List.of(), Map.of()), new TopicSpec("../x", 1, 1, List.of(), Map.of()));

            List<Outcome> outcomes = await(broker.controller.createTopics(specs, true));

            assertThat(outcomes)
                    .extracting(Outcome::error)
                    .containsExactly(ErrorCode.NONE, ErrorCode.INVALID_TOPIC_EXCEPTION);
            assertThat(broker.image().topics()).isEmpty();
        }
    }

    @Test
    void shouldDecideOnEachTopicByItselfWhenOneRequestHoldsSeveral() throws Exception {
        try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
            List<TopicSpec> specs = List.of(
                    new TopicSpec("a", 1, 1, List.of(), Map.of()),
                    new TopicSpec("a", 1, 1, List.of(), Map.of()),
                    new TopicSpec("b", 1, 3, List.of(), Map.of()),
                    new TopicSpec("c", 1, 1, List.of(), Map.of()));

            List<Outcome> outcomes = await(broker.controller.createTopics(specs, false));

            assertThat(outcomes)
                    .extracting(Outcome::error)
                    .containsExactly(
                            ErrorCode.NONE,
                            ErrorCode.TOPIC_ALREADY_EXISTS,
                            ErrorCode.INVALID_REPLICATION_FACTOR,
                            ErrorCode.NONE);
            assertThat(broker.image().topics()).hasSize(2);
        }
    }

    @Test
    void shouldNeverGiveAProducerIdTwiceAlsoAfterAStart() throws Exception {
        long next = 0;
        for (int start = 0; start < 3; start++) {
            try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
                for (int block = 0; block < 5; block++) {
                    assertThat(await(broker.controller.allocateProducerIds(100)))
                            .isEqualTo(next);
                    next += 100;
                }
            }
        }
    }

    @Test
    void shouldKeepALargeTopicInRealFiles(@TempDir Path directory) throws Exception {
        FileStore files = new SystemFileStore();
        UnaryOperator<MetadataLog> asIs = UnaryOperator.identity();
        try (ControllerFixture broker = ControllerFixture.start(files, directory, this::newId, asIs)) {
            assertThat(broker.create("large", ControllerFixture.LIMITS.maxPartitionsPerTopic())
                            .error())
                    .isEqualTo(ErrorCode.NONE);
        }

        try (ControllerFixture broker = ControllerFixture.start(files, directory, this::newId, asIs)) {
            assertThat(broker.image().topic("large").partitions()).hasSize(50);
        }
    }

    @Test
    void shouldPromiseNothingMoreWhenTheLogFails() throws Exception {
        BreakingLog breaking = new BreakingLog();
        try (ControllerFixture broker = ControllerFixture.start(store, this::newId, breaking::around)) {
            broker.create("before", 1);
            breaking.failSync = true;

            Outcome during = broker.create("during", 1);
            breaking.failSync = false;
            Outcome after = broker.create("after", 1);

            assertThat(during.error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
            assertThat(after.error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
            assertThat(broker.image().topics()).hasSize(1);
            assertThatThrownBy(() -> await(broker.controller.allocateProducerIds(1)))
                    .isInstanceOf(ExecutionException.class);
        }
        // "during" was not acknowledged, so it may or may not be on the disk. But nothing may follow it.
        try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
            assertThat(broker.image().topic("before")).isNotNull();
            assertThat(broker.image().topic("after")).isNull();
        }
    }

    @Test
    void shouldRefuseOperationsWhenTooManyWaitOrItIsClosed() throws Exception {
        BreakingLog slow = new BreakingLog();
        ControllerFixture broker = ControllerFixture.start(store, this::newId, slow::around);
        CountDownLatch hold = new CountDownLatch(1);
        slow.beforeSync = () -> awaitQuietly(hold);
        List<CompletableFuture<Long>> futures = new ArrayList<>();
        for (int i = 0; i < Controller.MAX_WAITING_OPERATIONS + 10; i++) {
            futures.add(broker.controller.allocateProducerIds(1));
        }

        long refused = futures.stream()
                .filter(CompletableFuture::isCompletedExceptionally)
                .count();
        hold.countDown();
        broker.close();

        assertThat(refused).isBetween(9L, 10L);
        assertThat(futures).allMatch(CompletableFuture::isDone);
        assertThat(broker.controller.allocateProducerIds(1)).isCompletedExceptionally();
    }

    @Test
    void shouldRefuseToStartOnALogThatIsDamaged() throws Exception {
        try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
            broker.create("orders", 1);
        }
        BreakingLog twice = new BreakingLog();
        twice.replayTwice = true;

        assertThatThrownBy(() -> ControllerFixture.start(store, this::newId, twice::around))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("damaged");
    }

    private Uuid newId() {
        return new Uuid(1, lastId.incrementAndGet());
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** A metadata log that fails on request. */
    private static final class BreakingLog implements MetadataLog {
        private volatile boolean failSync;
        private volatile boolean replayTwice;
        private volatile Runnable beforeSync = () -> {};
        private MetadataLog inner;

        MetadataLog around(MetadataLog log) {
            inner = log;
            return this;
        }

        @Override
        public void fence(IOException reason) {
            // It fails when the test says so.
        }

        @Override
        public void replay(Consumer<Message> replay) throws IOException {
            inner.replay(replay);
            if (replayTwice) {
                inner.replay(replay);
            }
        }

        @Override
        public void append(List<Message> records) throws IOException {
            inner.append(records);
        }

        @Override
        public void sync() throws IOException {
            beforeSync.run();
            if (failSync) {
                throw new IOException("disk full");
            }
            inner.sync();
        }

        @Override
        public boolean isSnapshotDue() {
            return inner.isSnapshotDue();
        }

        @Override
        public void keepSnapshot(List<Message> records) throws IOException {
            inner.keepSnapshot(records);
        }

        @Override
        public void close() throws IOException {
            inner.close();
        }
    }
}
