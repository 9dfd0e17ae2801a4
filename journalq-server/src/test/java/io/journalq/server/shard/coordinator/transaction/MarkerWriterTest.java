package io.journalq.server.shard.coordinator.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeTransactionsResponse.TransactionState;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.OffsetForLeaderEpochRequest;
import io.journalq.common.protocol.message.OffsetForLeaderEpochResponse;
import io.journalq.common.protocol.message.WriteTxnMarkersRequest;
import io.journalq.common.protocol.message.WriteTxnMarkersRequest.WritableTxnMarker;
import io.journalq.common.protocol.message.WriteTxnMarkersResponse;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import io.journalq.server.peer.PeerChannel;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.CoordinatorKind;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.coordinator.Coordinators.CoordinatorResources;
import io.journalq.server.shard.coordinator.group.GroupCoordinators;
import io.journalq.server.store.CoordinatorSlice;
import io.journalq.server.transaction.Markers.MarkerRequest;
import io.journalq.server.transaction.TransactionLimits;
import io.journalq.server.transaction.TransactionMachine;
import io.journalq.server.transaction.TransactionRecords;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Markers of a coordinator on this broker for partitions that another broker leads. */
class MarkerWriterTest {
    private static final int LIMIT_SECONDS = 60;
    /** Longer than the time between two attempts. */
    private static final int QUIET_MS = 500;

    private static final long HEAP_BYTES = 1L << 30;
    private static final int HERE = 0;
    private static final int OTHER = 1;
    private static final Uuid TRANSACTIONS = new Uuid(7, 7);
    private static final Uuid GROUPS = new Uuid(6, 6);
    private static final MarkerRequest COMMIT_OFFSETS = new MarkerRequest(
            "copy", 1_000, (short) 3, true, (short) 2, List.of(new TopicPartition(InternalTopics.GROUPS, 0)));
    private static final MarkerRequest COMMIT =
            new MarkerRequest("copy", 1_000, (short) 3, true, (short) 2, List.of(new TopicPartition("orders", 0)));

    private final ExecutorService blockingPool = Executors.newFixedThreadPool(2);
    private final EventLoops loops = new EventLoops(1);
    private final MetadataMachine metadata = new MetadataMachine(new MetadataMachine.Limits(HERE, 1, 10, 100));
    private final BlockingQueue<Sent> arrived = new LinkedBlockingQueue<>();
    private Shards shards;
    private GroupCoordinators groups;
    private Coordinators<TransactionMachine> coordinators;
    private MarkerWriter writer;

    /** A request that the other broker has not responded to. */
    private record Sent(ApiMessage request, PeerChannel.ResponseListener listener) {
        WritableTxnMarker marker() {
            return ((WriteTxnMarkersRequest) request).markers().get(0);
        }

        void respond(ErrorCode error) {
            listener.onResponse(new WriteTxnMarkersResponse()
                    .setMarkers(List.of(new WriteTxnMarkersResponse.WritableTxnMarkerResult()
                            .setProducerId(marker().producerId())
                            .setTopics(List.of(new WriteTxnMarkersResponse.WritableTxnMarkerTopicResult()
                                    .setName("orders")
                                    .setPartitions(List.of(
                                            new WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult()
                                                    .setPartitionIndex(0)
                                                    .setErrorCode(error.code()))))))));
        }
    }

    /** A connection to the other broker. */
    private final class Channel implements PeerChannel {
        @Override
        public void send(ApiMessage request, int version, int timeoutMs, ResponseListener listener) {
            arrived.add(new Sent(request, listener));
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    @BeforeEach
    void start() throws Exception {
        BrokerConfig config =
                BrokerConfig.defaults().with("data.directories", Path.of("data").toString(), ConfigOrigin.COMMAND_LINE);
        PeerRequests peers = new PeerRequests(loops.cycles().get(0), broker -> new Channel());
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
                new CoordinatorResources(
                        shards, blockingPool, Clock.systemUTC(), CoordinatorSlice.Provider.NONE, peers),
                MemoryBudget.of(HEAP_BYTES, part -> 0),
                () -> new Uuid(5, 5),
                null);
        coordinators = new Coordinators<>(
                new CoordinatorKind<>(
                        InternalTopics.TRANSACTIONS,
                        TransactionRecords.TYPES,
                        (partition, outbox) -> new TransactionMachine(
                                outbox,
                                request -> writer.write(request),
                                transactionalId -> {},
                                new TransactionLimits(60_000, 60_000),
                                shards::retentionTime,
                                MemoryAccount.UNBOUNDED)),
                new CoordinatorResources(shards, blockingPool, Clock.systemUTC(), CoordinatorSlice.Provider.NONE, null),
                (partition, machine) -> {});
        writer = new MarkerWriter(metadata::image, shards, groups.coordinators(), coordinators, peers);
        metadata.replay(metadata.format(new Uuid(1, 1)).records());
        TestBrokers.register(metadata, HERE, OTHER);
        metadata.replay(
                metadata.createTopic(new TopicSpec("orders", -1, -1, List.of(List.of(OTHER)), Map.of()), new Uuid(2, 2))
                        .records());
        metadata.replay(metadata.createTopic(InternalTopics.transactions(1, 1, 1), TRANSACTIONS)
                .records());
        leadHere(1);
    }

    @AfterEach
    void stop() {
        writer.close();
        groups.coordinators().close().join();
        coordinators.close().join();
        shards.close().join();
        loops.close();
        blockingPool.shutdown();
    }

    /** This broker leads the partition of the coordinator in an epoch. */
    private void leadHere(int leaderEpoch) {
        PartitionsRecord record = new PartitionsRecord()
                .setTopicId(TRANSACTIONS)
                .setFirstPartition(0)
                .setPartitions(List.of(new PartitionState()
                        .setLeader(HERE)
                        .setLeaderEpoch(leaderEpoch)
                        .setReplicas(List.of(HERE))
                        .setInSyncReplicas(List.of(HERE))));
        MetadataDelta delta = metadata.replay(List.of(record));
        shards.partitions().open(delta).join();
        coordinators.follow(delta).join();
    }

    private void write() throws Exception {
        write(COMMIT);
    }

    private void write(MarkerRequest request) throws Exception {
        CompletableFuture<Void> written = new CompletableFuture<>();
        shards.shardOf(TRANSACTIONS, 0).cycle().execute(() -> {
            writer.write(request);
            written.complete(null);
        });
        written.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    private Sent next() throws InterruptedException {
        Sent sent = arrived.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertThat(sent).as("a request within %d s", LIMIT_SECONDS).isNotNull();
        return sent;
    }

    @Test
    void shouldTryAgainInTheSameEpochWhenThePartitionIsNotInformed() throws Exception {
        write();
        Sent first = next();

        first.respond(ErrorCode.NOT_LEADER_OR_FOLLOWER);

        assertThat(next().request()).isEqualTo(first.request());
        assertThat(first.marker().coordinatorEpoch()).isEqualTo(1);
    }

    @Test
    void shouldWriteMarkersAgainWhenTheSameBrokerLeadsInALaterEpoch() throws Exception {
        // given a marker that the partition does not have
        decide();
        Sent first = next();

        // when the partition of the coordinator gets another epoch, and nobody asks for the marker again
        leadHere(2);
        first.respond(ErrorCode.NOT_LEADER_OR_FOLLOWER);

        // then the same marker arrives with the new epoch
        Sent second = next();
        assertThat(second.marker().coordinatorEpoch()).isEqualTo(2);
        assertThat(second.request())
                .isEqualTo(new WriteTxnMarkersRequest()
                        .setMarkers(List.of(first.marker().setCoordinatorEpoch(2))));
    }

    @Test
    void shouldGiveUpWhenAnotherTaskWritesTheMarkersInALaterEpoch() throws Exception {
        // given a marker that was asked for again in a later epoch
        write();
        Sent first = next();
        leadHere(2);
        write();
        Sent second = next();

        // when both attempts fail
        first.respond(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        second.respond(ErrorCode.NOT_LEADER_OR_FOLLOWER);

        // then only the newest goes on
        for (int attempt = 0; attempt < 3; attempt++) {
            Sent again = next();
            assertThat(again.marker().coordinatorEpoch()).isEqualTo(2);
            assertThat(arrived).isEmpty();
            again.respond(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        }
    }

    @Test
    void shouldNotCompleteTheNextTransactionWhenAnEarlierCoordinatorGetsItsResponseLate() throws Exception {
        // given a marker without a response, and then the next transaction of the producer with the same epoch, which
        // was
        // decided when this broker led again
        MarkerRequest first = decide();
        write(first);
        Sent late = next();
        leadHere(3);
        awaitState("PrepareCommit");
        onMachine(machine -> machine.onMarkersWritten("copy", first.producerId(), first.producerEpoch(), 1));
        assertThat(decide()).isEqualTo(first);
        write(first);
        Sent second = next();
        assertThat(second.marker().coordinatorEpoch()).isEqualTo(3);

        // when the first response arrives
        late.respond(ErrorCode.NONE);
        onMachine(machine -> {});

        // then the transaction is complete only when its own marker is written
        assertThat(state()).isEqualTo("PrepareCommit");
        second.respond(ErrorCode.NONE);
        awaitState("CompleteCommit");
    }

    @Test
    void shouldNotEndTheNextTransactionWhenThisBrokerLeadsAgainBeforeItTriesAgain() throws Exception {
        // given a marker without a response, and then the next transaction of the producer with the same epoch
        MarkerRequest first = decide();
        Sent late = next();
        leadHere(3);
        onMachine(machine -> {
            machine.onMarkersWritten("copy", first.producerId(), first.producerEpoch(), 1);
            machine.onAddPartitions(
                    new TransactionMachine.ProducerClaim("copy", first.producerId(), first.producerEpoch()),
                    COMMIT.partitions(),
                    (short) 0,
                    System.currentTimeMillis(),
                    new Ignored<>());
        });

        // when the first attempt has failed
        late.respond(ErrorCode.NOT_LEADER_OR_FOLLOWER);

        // then the marker is not written again
        assertThat(arrived.poll(QUIET_MS, TimeUnit.MILLISECONDS)).isNull();
        assertThat(state()).isEqualTo("Ongoing");
    }

    /** Begins and commits a transaction of the first generation. */
    private MarkerRequest decide() throws Exception {
        onMachine(machine -> {
            TransactionState before = machine.describe("copy");
            if (before.errorCode() != ErrorCode.NONE.code()) {
                machine.onInitProducerId(
                        (short) 4,
                        new InitProducerIdRequest().setTransactionalId("copy").setTransactionTimeoutMs(60_000),
                        1,
                        new Ignored<>());
                machine.onProducerId("copy", 1_000, 1);
            }
            machine.onAddPartitions(
                    new TransactionMachine.ProducerClaim("copy", 1_000, (short) 0),
                    COMMIT.partitions(),
                    (short) 0,
                    1,
                    new Ignored<>());
            machine.onEndTransaction(
                    (short) 4,
                    new EndTxnRequest()
                            .setTransactionalId("copy")
                            .setProducerId(1_000)
                            .setProducerEpoch((short) 0)
                            .setCommitted(true),
                    1,
                    new Ignored<>());
        });
        awaitState("PrepareCommit");
        return new MarkerRequest("copy", 1_000, (short) 0, true, (short) 0, COMMIT.partitions());
    }

    private record Ignored<T>() implements Reply<T> {
        @Override
        public void send(T response) {
            // The state tells.
        }

        @Override
        public void fail(ErrorCode error) {
            throw new AssertionError(error);
        }
    }

    private void onMachine(Consumer<TransactionMachine> work) throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (true) {
            CompletableFuture<ErrorCode> done = new CompletableFuture<>();
            coordinators.submitLater(
                    "copy",
                    (machine, nowMs, replies) -> {
                        work.accept(machine);
                        done.complete(ErrorCode.NONE);
                    },
                    done::complete);
            if (done.get(LIMIT_SECONDS, TimeUnit.SECONDS) == ErrorCode.NONE) {
                return;
            }
            assertThat(System.nanoTime()).isLessThan(deadlineNanos);
            Thread.sleep(5);
        }
    }

    private String state() throws Exception {
        CompletableFuture<String> state = new CompletableFuture<>();
        onMachine(machine -> state.complete(machine.describe("copy").transactionState()));
        return state.get();
    }

    private void awaitState(String expected) throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!state().equals(expected)) {
            assertThat(System.nanoTime()).isLessThan(deadlineNanos);
            Thread.sleep(5);
        }
    }

    @Test // seed 1130154 of 3 brokers
    void shouldInformTheNextCoordinatorOfAGroupWhenTheOneHereWasReplaced() throws Exception {
        // given a coordinator of groups without offsets of the transaction, which does not know that it was replaced
        TopicSpec topic = new TopicSpec(
                InternalTopics.GROUPS,
                -1,
                -1,
                List.of(List.of(HERE, OTHER)),
                InternalTopics.groups(1, 2).configs());
        MetadataDelta delta =
                metadata.replay(metadata.createTopic(topic, GROUPS).records());
        shards.partitions().open(delta).join();
        groups.open(delta).join();
        write(COMMIT_OFFSETS);
        Sent question = next();
        assertThat(question.request()).isInstanceOf(OffsetForLeaderEpochRequest.class);

        // when it learns that
        metadata.replay(metadata.cluster().fence(List.of(HERE)).records());
        question.listener()
                .onResponse(new OffsetForLeaderEpochResponse()
                        .setTopics(List.of(new OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult()
                                .setPartitions(List.of(new OffsetForLeaderEpochResponse.EpochEndOffset()
                                        .setErrorCode(ErrorCode.FENCED_LEADER_EPOCH.code()))))));

        // then the marker goes to its successor
        assertThat(next().marker().topics().get(0).name()).isEqualTo(InternalTopics.GROUPS);
    }
}
