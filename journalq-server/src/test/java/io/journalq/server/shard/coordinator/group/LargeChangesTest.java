package io.journalq.server.shard.coordinator.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.group.CommittedOffsets;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.Coordinators.CoordinatorResources;
import io.journalq.server.store.CoordinatorSlice;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Changes of a group that are larger than a batch of its topic. */
class LargeChangesTest {
    private static final int LIMIT_SECONDS = 60;
    private static final long HEAP_BYTES = 1L << 30;
    /** 3 KiB in a record. */
    private static final String LONG_ID = "\u20ac".repeat(1_023);

    private static final CommittedOffsets.Committer ANYBODY = new CommittedOffsets.Committer("", null, -1);

    private final ExecutorService blockingPool = Executors.newFixedThreadPool(2);
    private final EventLoops loops = new EventLoops(1);
    private Shards shards;
    private GroupCoordinators groups;

    @BeforeEach
    void start() throws Exception {
        BrokerConfig config =
                BrokerConfig.defaults().with("data.directories", Path.of("data").toString(), ConfigOrigin.COMMAND_LINE);
        shards = new Shards(
                config,
                loops.cycles(),
                new MemoryFileStore(),
                blockingPool,
                Clock.systemUTC(),
                Map.of(),
                MemoryAccount.UNBOUNDED);
        groups = new GroupCoordinators(
                config,
                new CoordinatorResources(shards, blockingPool, Clock.systemUTC(), CoordinatorSlice.Provider.NONE, null),
                MemoryBudget.of(HEAP_BYTES, part -> 0),
                () -> new Uuid(5, 5),
                null);
        MetadataMachine metadata = new MetadataMachine(new MetadataMachine.Limits(0, 1, 10, 100));
        metadata.replay(metadata.format(new Uuid(1, 1)).records());
        TestBrokers.register(metadata, 0);
        MetadataDelta delta = metadata.replay(metadata.createTopic(InternalTopics.groups(1, 1), new Uuid(6, 6))
                .records());
        shards.partitions().open(delta).join();
        groups.open(delta).join();
        assertThat(commit("other", commits(1))).containsExactly(ErrorCode.NONE);
    }

    @AfterEach
    void stop() {
        groups.close().join();
        shards.close().join();
        loops.close();
        blockingPool.shutdown();
    }

    private static List<CommittedOffsets.Commit> commits(int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> new CommittedOffsets.Commit("t", new Uuid(1, 1), number, 7, -1, -1, null))
                .toList();
    }

    private Set<ErrorCode> commit(String group, List<CommittedOffsets.Commit> commits) throws Exception {
        CompletableFuture<List<ErrorCode>> response = new CompletableFuture<>();
        groups.coordinators()
                .submit(
                        group,
                        (machine, nowMs, replies) -> machine.onOffsetCommit(
                                group,
                                ANYBODY,
                                commits,
                                nowMs,
                                replies.to(response::complete, error -> response.complete(List.of(error)))),
                        error -> response.complete(List.of(error)));
        return new TreeSet<>(response.get(LIMIT_SECONDS, TimeUnit.SECONDS));
    }

    private Set<ErrorCode> commitInTransaction(String group, List<CommittedOffsets.Commit> commits) throws Exception {
        CompletableFuture<List<ErrorCode>> response = new CompletableFuture<>();
        groups.coordinators()
                .submit(
                        group,
                        (machine, nowMs, replies) -> machine.onTransactionalOffsetCommit(
                                group,
                                ANYBODY,
                                new CommittedOffsets.InTransaction(11, (short) 0, Long.MAX_VALUE, commits),
                                nowMs,
                                replies.to(response::complete, error -> response.complete(List.of(error)))),
                        error -> response.complete(List.of(error)));
        return new TreeSet<>(response.get(LIMIT_SECONDS, TimeUnit.SECONDS));
    }

    private ErrorCode commitTransaction() throws Exception {
        CompletableFuture<ErrorCode> response = new CompletableFuture<>();
        groups.coordinators()
                .submit(
                        0,
                        (machine, nowMs, replies) -> machine.onTransactionEnd(
                                new TransactionMarker(11, (short) 1, true, 1),
                                2,
                                1,
                                replies.to(response::complete, response::complete)),
                        response::complete);
        return response.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldServeOtherGroupsWhenACommitIsTooLarge() throws Exception {
        // when a request of 450 KB makes records of 68 MB
        Set<ErrorCode> outcomes = commit(LONG_ID, commits(22_000));

        // then it is refused, and the coordinator goes on
        assertThat(outcomes).doesNotContain(ErrorCode.COORDINATOR_NOT_AVAILABLE);
        assertThat(commit("other", commits(1))).containsExactly(ErrorCode.NONE);
    }

    @Test
    void shouldEndATransactionWithManyOffsets() throws Exception {
        // given a transaction with offsets that were accepted
        assertThat(commitInTransaction(LONG_ID + 1, commits(5_500))).containsExactly(ErrorCode.NONE);
        assertThat(commitInTransaction(LONG_ID + 2, commits(5_500))).containsExactly(ErrorCode.NONE);

        // then it can be committed, and the coordinator goes on
        assertThat(commitTransaction()).isEqualTo(ErrorCode.NONE);
        assertThat(commit("other", commits(1))).containsExactly(ErrorCode.NONE);
    }
}
