package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.control.Controller.PartitionsSpec;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Operations with records that one batch of a quorum cannot have. */
class LargeOperationsTest {
    private static final int SELF = 1;
    private static final int TOO_MANY_PARTITIONS = 60_000;
    private static final MetadataMachine.Limits LIMITS = new MetadataMachine.Limits(SELF, 1, 100_000, 200_000);

    private final AtomicLong ids = new AtomicLong();
    private final MetadataPublisher publisher = new MetadataPublisher(Runnable::run);
    private final MetadataMachine other = new MetadataMachine(LIMITS);
    private ElectedLog log;
    private Controller controller;

    @BeforeEach
    void start() throws Exception {
        Journal journal = Journal.openWhole(
                new MemoryFileStore(), Path.of("metadata-0"), LocalMetadataLog.JOURNAL_CONFIG, Runnable::run);
        log = new ElectedLog(new LocalMetadataLog(SELF, journal, Clock.systemUTC(), UnpooledByteBufAllocator.DEFAULT));
        controller = new Controller(
                new MetadataReplica(new MetadataMachine(LIMITS), publisher),
                log,
                () -> new Uuid(1, ids.incrementAndGet()),
                Controller.newThread());
        controller.start(clusterId -> {}).join();
        commitOfOther(other.format(new Uuid(7, 7)));
        commitOfOther(other.registrations().register(TestBrokers.registration(SELF), -1));
        log.elect(SELF, 3, SELF);
        controller.allocateProducerIds(1).get(20, TimeUnit.SECONDS);
    }

    @AfterEach
    void close() throws IOException {
        controller.close();
    }

    private void commitOfOther(Decision decision) {
        long offset = publisher.current().version();
        other.replay(decision.records());
        log.commit(new MetadataBatch(offset, decision.records()));
    }

    private static TopicSpec topic(String name, int partitions) {
        return new TopicSpec(name, partitions, 1, List.of(), Map.of());
    }

    private static <T> T get(CompletableFuture<T> result) throws Exception {
        return result.get(20, TimeUnit.SECONDS);
    }

    @Test
    void shouldRefuseATopicThatIsLargerThanABatchAndCreateTheOthersOfTheRequest() throws Exception {
        List<TopicSpec> specs = List.of(topic("first", 1), topic("large", TOO_MANY_PARTITIONS), topic("last", 1));

        List<Outcome> validated = get(controller.createTopics(specs, true));
        List<Outcome> outcomes = get(controller.createTopics(specs, false));

        assertThat(outcomes)
                .extracting(Outcome::error)
                .containsExactly(ErrorCode.NONE, ErrorCode.POLICY_VIOLATION, ErrorCode.NONE);
        assertThat(outcomes.get(1).reason()).contains("1048576 bytes");
        assertThat(validated)
                .extracting(Outcome::error)
                .isEqualTo(List.of(
                        outcomes.get(0).error(),
                        outcomes.get(1).error(),
                        outcomes.get(2).error()));
        assertThat(publisher.current().topic("large")).isNull();
        assertThat(publisher.current().topic("last")).isNotNull();
    }

    @Test
    void shouldAddPartitionsInStepsWhenTheyAreLargerThanABatchTogether() throws Exception {
        get(controller.createTopics(List.of(topic("large", TOO_MANY_PARTITIONS / 2)), false));

        PartitionsSpec atOnce = new PartitionsSpec("large", TOO_MANY_PARTITIONS * 3 / 2, List.of());
        assertThat(get(controller.createPartitions(List.of(atOnce), false)))
                .extracting(Outcome::error)
                .containsExactly(ErrorCode.POLICY_VIOLATION);

        PartitionsSpec step = new PartitionsSpec("large", TOO_MANY_PARTITIONS, List.of());
        assertThat(get(controller.createPartitions(List.of(step), false)))
                .extracting(Outcome::error)
                .containsExactly(ErrorCode.NONE);
        assertThat(publisher.current().topic("large").partitions()).hasSize(TOO_MANY_PARTITIONS);
    }
}
