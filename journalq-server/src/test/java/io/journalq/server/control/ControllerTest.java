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
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.record.ProducerIdsRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
                    List.of(new ConfigChange("kept", image -> Map.of("segment.bytes", "2048"))), false));
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
            broker.publisher.addListener(delta -> seen.add((delta.before().topic("orders") == null) + " "
                    + (delta.now().topic("orders") == null)));

            broker.create("orders", 1);

            assertThat(broker.image().topic("orders")).isNotNull();
            assertThat(seen).containsExactly("true false");
        }
    }

    @Test
    void shouldDecideOnLaterOperationsWhenPartitionsAreStillOpening() throws Exception {
        // given partitions that take their time to open
        CompletableFuture<Void> opening = new CompletableFuture<>();
        CountDownLatch applied = new CountDownLatch(4);
        CompletableFuture<List<Outcome>> first;
        CompletableFuture<List<Outcome>> again;
        MetadataPublisher publisher;
        try (ControllerFixture broker = ControllerFixture.start(store, this::newId)) {
            publisher = broker.publisher;
            broker.publisher.addListener(new MetadataPublisher.Listener() {
                @Override
                public CompletableFuture<Void> prepare(MetadataDelta delta) {
                    applied.countDown();
                    return opening;
                }

                @Override
                public void onImage(MetadataDelta delta) {
                    // Only the preparation matters.
                }
            });

            // when there are operations that build on each other
            List<TopicSpec> topic = List.of(new TopicSpec("orders", 1, 1, List.of(), Map.of()));
            first = broker.controller.createTopics(topic, false);
            CompletableFuture<List<Outcome>> set = broker.controller.alterTopicConfigs(List.of(doubled("1")), false);
            CompletableFuture<Long> other = broker.controller.allocateProducerIds(1);
            CompletableFuture<List<Outcome>> doubled =
                    broker.controller.alterTopicConfigs(List.of(doubled("2")), false);
            again = broker.controller.createTopics(topic, false);

            // then the log is replayed without a wait, but no client hears of a topic that it cannot use yet
            assertThat(applied.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(broker.image().topics()).isEmpty();
            assertThat(first).isNotDone();
            assertThat(List.of(set, doubled)).noneMatch(CompletableFuture::isDone);
            assertThat(again).isNotDone();
            assertThat(await(other)).isZero();

            // and the close does not need the partitions
        }
        assertThat(again).isNotDone();
        opening.complete(null);
        assertThat(await(first).get(0).error()).isEqualTo(ErrorCode.NONE);
        assertThat(await(again).get(0).error()).isEqualTo(ErrorCode.TOPIC_ALREADY_EXISTS);
        assertThat(publisher.current().topic("orders").configs()).containsEntry("retention.ms", "11");
    }

    /** Appends the retention time to itself. */
    private static ConfigChange doubled(String first) {
        return new ConfigChange("orders", image -> {
            String before = image.topic("orders").configs().get("retention.ms");
            return Map.of("retention.ms", before == null ? first : before + before);
        });
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
            Outcome again = broker.create("during", 1);
            Outcome after = broker.create("after", 1);

            assertThat(during.error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
            assertThat(again.error())
                    .as("a topic that was not committed does not exist")
                    .isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
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
        for (int i = 0; i < OperationQueue.MAX_OPERATIONS + 10; i++) {
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
    void shouldChangeNothingUntilTheLogHasCommittedWhenItTakesItsTime() throws Exception {
        // given a log that takes its time
        BreakingLog slow = new BreakingLog();
        try (ControllerFixture broker = ControllerFixture.start(store, this::newId, slow::around)) {
            slow.commit = new CompletableFuture<>();

            // when a client creates a topic, and another one wants the same topic
            List<TopicSpec> topic = List.of(new TopicSpec("orders", 1, 1, List.of(), Map.of()));
            CompletableFuture<List<Outcome>> first = broker.controller.createTopics(topic, false);
            CompletableFuture<List<Outcome>> second = broker.controller.createTopics(topic, false);

            // then neither has an outcome, and there is no topic
            assertThatThrownBy(() -> first.get(50, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            assertThat(second).isNotDone();
            assertThat(broker.image().topics()).isEmpty();

            // and when the log has committed, the second decision knows the first one
            slow.commit.complete(null);
            assertThat(await(first).get(0).error()).isEqualTo(ErrorCode.NONE);
            assertThat(await(second).get(0).error()).isEqualTo(ErrorCode.TOPIC_ALREADY_EXISTS);
            assertThat(broker.image().topics()).hasSize(1);
        }
    }

    @Test
    void shouldCompleteEveryOperationWhenItIsClosedBeforeTheLogHasCommitted() throws Exception {
        BreakingLog slow = new BreakingLog();
        ControllerFixture broker = ControllerFixture.start(store, this::newId, slow::around);
        slow.commit = new CompletableFuture<>();
        List<TopicSpec> topic = List.of(new TopicSpec("orders", 1, 1, List.of(), Map.of()));
        CompletableFuture<List<Outcome>> first = broker.controller.createTopics(topic, false);
        CompletableFuture<List<Outcome>> second = broker.controller.createTopics(topic, false);

        broker.close();

        assertThat(await(first).get(0).error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
        assertThat(await(second).get(0).error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
    }

    @Test
    void shouldRefuseABatchWhenItWasDecidedOnAnotherState() throws Exception {
        BreakingLog log = new BreakingLog();
        try (ControllerFixture broker = ControllerFixture.start(store, this::newId, log::around)) {
            long before = broker.image().version();
            Message record = new ProducerIdsRecord().setNextProducerId(7);
            await(log.propose(new MetadataBatch(before, List.of(record))));

            assertThat(log.propose(new MetadataBatch(before, List.of(record)))).isCompletedExceptionally();

            assertThat(broker.image().version()).isEqualTo(before + 1);
            assertThat(broker.create("orders", 1).error()).isEqualTo(ErrorCode.NONE);
        }
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

    /** A metadata log that fails, or waits, on request. */
    private static final class BreakingLog implements MetadataLog {
        private volatile boolean failSync;
        private volatile boolean replayTwice;
        private volatile Runnable beforeSync = () -> {};
        /** While it is not null, proposals wait until it is complete. */
        private volatile CompletableFuture<Void> commit;

        private MetadataLog inner;

        MetadataLog around(MetadataLog log) {
            inner = log;
            return this;
        }

        @Override
        public void fence(IOException reason) {
            inner.fence(reason);
        }

        @Override
        public void open(Replica replica) throws IOException {
            inner.open(new Replica() {
                @Override
                public void replay(List<Message> records) {
                    replica.replay(records);
                    if (replayTwice) {
                        replica.replay(records);
                    }
                }

                @Override
                public void restore(List<Message> snapshot) {
                    replica.restore(snapshot);
                }

                @Override
                public List<Message> snapshot() {
                    return replica.snapshot();
                }

                @Override
                public int level() {
                    return replica.level();
                }
            });
        }

        @Override
        public CompletableFuture<Void> propose(MetadataBatch batch) {
            beforeSync.run();
            if (failSync) {
                inner.fence(new IOException("disk full"));
            }
            return commit == null ? inner.propose(batch) : commit.thenCompose(now -> inner.propose(batch));
        }

        @Override
        public void onRole(Consumer<Role> listener) {
            inner.onRole(listener);
        }

        @Override
        public boolean electsLeader() {
            return inner.electsLeader();
        }

        @Override
        public Members members() {
            return inner.members();
        }

        @Override
        public void close() throws IOException {
            if (commit != null) {
                commit.completeExceptionally(new IOException("closed"));
            }
            inner.close();
        }
    }
}
