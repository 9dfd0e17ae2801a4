package io.journalq.server.shard.coordinator.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest.AddPartitionsToTxnTopic;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.OffsetForLeaderEpochRequest;
import io.journalq.common.protocol.message.OffsetForLeaderEpochResponse;
import io.journalq.common.protocol.message.WriteTxnMarkersRequest;
import io.journalq.common.protocol.message.WriteTxnMarkersRequest.WritableTxnMarkerTopic;
import io.journalq.common.protocol.message.WriteTxnMarkersResponse;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.transaction.AddPartitionsToTxnHandler;
import io.journalq.server.api.transaction.EndTxnHandler;
import io.journalq.server.api.transaction.InitProducerIdHandler;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
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
import io.journalq.server.shard.coordinator.CoordinatorKind.Step;
import io.journalq.server.shard.coordinator.Coordinators.CoordinatorResources;
import io.journalq.server.shard.coordinator.group.GroupCoordinators;
import io.journalq.server.store.CoordinatorSlice;
import io.journalq.server.transaction.TransactionMachine;
import java.lang.reflect.Proxy;
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
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The coordinator of a transactional id on this broker, with another broker that could have it, too. */
class TransactionCoordinatorsTest {
    private static final int LIMIT_SECONDS = 30;
    private static final long HEAP_BYTES = 1L << 30;
    private static final int HERE = 0;
    private static final int OTHER = 1;
    private static final String ID = "copy";
    private static final long PRODUCER_ID = 1_000;
    private static final short EPOCH = 0;
    private static final short NEXT_EPOCH = 1;
    private static final short FIRST = 4;
    private static final Uuid TRANSACTIONS = new Uuid(7, 7);

    private final ExecutorService blockingPool = Executors.newFixedThreadPool(2);
    private final EventLoops loops = new EventLoops(1);
    private final MetadataMachine metadata = new MetadataMachine(new MetadataMachine.Limits(HERE, 1, 10, 100));
    private final BlockingQueue<Sent> arrived = new LinkedBlockingQueue<>();
    private Shards shards;
    private GroupCoordinators groups;
    private TransactionCoordinators transactions;

    /** A request that the other broker has not responded to. */
    private record Sent(ApiMessage request, PeerChannel.ResponseListener listener) {}

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
        CoordinatorResources resources = new CoordinatorResources(
                shards, blockingPool, Clock.systemUTC(), CoordinatorSlice.Provider.NONE, peers);
        MemoryBudget memory = MemoryBudget.of(HEAP_BYTES, part -> 0);
        groups = new GroupCoordinators(config, resources, memory, () -> new Uuid(5, 5), null);
        transactions = new TransactionCoordinators(
                config,
                resources,
                memory,
                new ProducerIds(() -> CompletableFuture.completedFuture(new ProducerIds.Block(PRODUCER_ID, 10))),
                groups.coordinators(),
                peers);
        metadata.replay(metadata.format(new Uuid(1, 1)).records());
        TestBrokers.register(metadata, HERE, OTHER);
        create(
                TRANSACTIONS,
                new TopicSpec(
                        InternalTopics.TRANSACTIONS,
                        -1,
                        -1,
                        List.of(List.of(HERE)),
                        InternalTopics.transactions(1, 1, 1).configs()));
    }

    @AfterEach
    void stop() {
        groups.coordinators().close().join();
        transactions.close().join();
        shards.close().join();
        loops.close();
        blockingPool.shutdown();
    }

    private void follow(MetadataDelta delta) {
        CompletableFuture<Void> opened = shards.partitions().open(delta);
        transactions.follow(delta).join();
        opened.join();
    }

    /** The partition of the coordinator gets a replica on the other broker, so that this one could have it. */
    private void replicate() {
        List<Integer> replicas = List.of(HERE, OTHER);
        follow(metadata.replay(List.of(new PartitionsRecord()
                .setTopicId(TRANSACTIONS)
                .setFirstPartition(0)
                .setPartitions(List.of(new PartitionState()
                        .setLeader(HERE)
                        .setLeaderEpoch(1)
                        .setPartitionEpoch(1)
                        .setReplicas(replicas)
                        .setInSyncReplicas(replicas))))));
    }

    private void createOrders() {
        create(new Uuid(2, 2), new TopicSpec("orders", -1, -1, List.of(List.of(OTHER)), Map.of()));
    }

    private void create(Uuid id, TopicSpec topic) {
        follow(metadata.replay(metadata.createTopic(topic, id).records()));
    }

    private Sent next() throws InterruptedException {
        Sent sent = arrived.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertThat(sent).as("a request within %d s", LIMIT_SECONDS).isNotNull();
        return sent;
    }

    /** Runs a step with the machine as soon as it is loaded. */
    private void onMachine(Step<TransactionMachine> step) throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (true) {
            CompletableFuture<ErrorCode> done = new CompletableFuture<>();
            transactions
                    .coordinators()
                    .submitLater(
                            ID,
                            (machine, nowMs, replies) -> {
                                step.run(machine, nowMs, replies);
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

    private void awaitState(String expected) throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        CompletableFuture<String> state = new CompletableFuture<>();
        while (true) {
            CompletableFuture<String> now = state;
            onMachine((machine, nowMs, replies) ->
                    now.complete(machine.describe(ID).transactionState()));
            if (expected.equals(now.get())) {
                return;
            }
            assertThat(System.nanoTime()).isLessThan(deadlineNanos);
            state = new CompletableFuture<>();
            Thread.sleep(5);
        }
    }

    /** Begins a transaction of the first generation with a partition. */
    private void begin(TopicPartition partition) throws Exception {
        onMachine((machine, nowMs, replies) -> machine.onInitProducerId(
                FIRST,
                new InitProducerIdRequest().setTransactionalId(ID).setTransactionTimeoutMs(60_000),
                nowMs,
                replies.to(response -> {}, TransactionCoordinatorsTest::fail)));
        awaitState("Empty");
        onMachine((machine, nowMs, replies) -> machine.onAddPartitions(
                new TransactionMachine.ProducerClaim(ID, PRODUCER_ID, EPOCH),
                List.of(partition),
                (short) 0,
                nowMs,
                replies.to(response -> {}, TransactionCoordinatorsTest::fail)));
    }

    private static void fail(ErrorCode error) {
        throw new AssertionError(error);
    }

    private static EndTxnRequest commit() {
        return new EndTxnRequest()
                .setTransactionalId(ID)
                .setProducerId(PRODUCER_ID)
                .setProducerEpoch(EPOCH)
                .setCommitted(true);
    }

    /** A client without further rights. */
    private static RequestContext client(Consumer<ApiMessage> responses) {
        return (RequestContext) Proxy.newProxyInstance(
                RequestContext.class.getClassLoader(),
                new Class<?>[] {RequestContext.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "apiVersion" -> FIRST;
                    case "allows" -> true;
                    case "respond" -> {
                        responses.accept((ApiMessage) arguments[0]);
                        yield null;
                    }
                    default -> throw new AssertionError("not expected: " + method);
                });
    }

    private CompletableFuture<ErrorCode> end() {
        CompletableFuture<ErrorCode> error = new CompletableFuture<>();
        new EndTxnHandler(transactions.coordinators())
                .handle(
                        client(response -> error.complete(ErrorCode.of(((EndTxnResponse) response).errorCode()))),
                        commit());
        return error;
    }

    @Test
    void shouldInformPartitionsOfATopicThatIsNotPublishedYet() throws Exception {
        // given a topic in an image that is being prepared, with a partition that takes part in a transaction
        createOrders();
        begin(new TopicPartition("orders", 0));

        // when it commits
        assertThat(end().get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo(ErrorCode.NONE);

        // then the partition gets a marker
        WriteTxnMarkersRequest markers = (WriteTxnMarkersRequest) next().request();
        assertThat(markers.markers().get(0).topics())
                .extracting(WritableTxnMarkerTopic::name)
                .containsExactly("orders");
    }

    @Test
    void shouldNotTakeTheNextTransactionForTheLastOneWhenAnotherBrokerHasTheCoordinator() throws Exception {
        // given a transaction that was committed here
        createOrders();
        begin(new TopicPartition("orders", 0));
        end().get(LIMIT_SECONDS, TimeUnit.SECONDS);
        next().listener()
                .onResponse(new WriteTxnMarkersResponse()
                        .setMarkers(List.of(new WriteTxnMarkersResponse.WritableTxnMarkerResult()
                                .setProducerId(PRODUCER_ID)
                                .setTopics(List.of(new WriteTxnMarkersResponse.WritableTxnMarkerTopicResult()
                                        .setName("orders")
                                        .setPartitions(List.of(
                                                new WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult()
                                                        .setPartitionIndex(0))))))));
        awaitState("CompleteCommit");
        // A response is sent when everything that was appended before it is stored.
        assertThat(end().get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo(ErrorCode.NONE);
        replicate();

        // when the producer commits again, perhaps a transaction that it has begun at another broker
        CompletableFuture<ErrorCode> again = end();

        // then the other broker is asked first, which has the coordinator
        Sent question = next();
        assertThat(question.request()).isInstanceOf(OffsetForLeaderEpochRequest.class);
        assertThat(again).isNotDone();
        question.listener().onResponse(epochEnd(ErrorCode.FENCED_LEADER_EPOCH));
        assertThat(again.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo(ErrorCode.NOT_COORDINATOR);

        // or has not
        CompletableFuture<ErrorCode> third = end();
        next().listener().onResponse(epochEnd(ErrorCode.NONE));
        assertThat(third.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldNotFenceAProducerWhenAnotherBrokerHasTheCoordinator() throws Exception {
        // given a producer, and another broker that could have given it its next epoch
        createOrders();
        begin(new TopicPartition("orders", 0));
        awaitState("Ongoing");
        assertThat(add(EPOCH).get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo(ErrorCode.NONE);
        replicate();

        // when it comes with that epoch
        for (Function<Short, CompletableFuture<ErrorCode>> request :
                List.<Function<Short, CompletableFuture<ErrorCode>>>of(this::add, this::init)) {
            CompletableFuture<ErrorCode> error = request.apply(NEXT_EPOCH);

            // then the other broker is asked first, which has the coordinator
            Sent question = next();
            assertThat(question.request()).isInstanceOf(OffsetForLeaderEpochRequest.class);
            assertThat(error).isNotDone();
            question.listener().onResponse(epochEnd(ErrorCode.FENCED_LEADER_EPOCH));
            assertThat(error.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo(ErrorCode.NOT_COORDINATOR);

            // or has not
            CompletableFuture<ErrorCode> again = request.apply(NEXT_EPOCH);
            next().listener().onResponse(epochEnd(ErrorCode.NONE));
            assertThat(again.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo(ErrorCode.PRODUCER_FENCED);
        }
    }

    private CompletableFuture<ErrorCode> add(short epoch) {
        CompletableFuture<ErrorCode> error = new CompletableFuture<>();
        AddPartitionsToTxnTopic topic =
                new AddPartitionsToTxnTopic().setName("orders").setPartitions(List.of(0));
        new AddPartitionsToTxnHandler(transactions.coordinators(), metadata::image)
                .handle(
                        client(response -> error.complete(ErrorCode.of(((AddPartitionsToTxnResponse) response)
                                .resultsByTransaction()
                                .get(0)
                                .topicResults()
                                .get(0)
                                .resultsByPartition()
                                .get(0)
                                .partitionErrorCode()))),
                        new AddPartitionsToTxnRequest()
                                .setTransactions(List.of(new AddPartitionsToTxnTransaction()
                                        .setTransactionalId(ID)
                                        .setProducerId(PRODUCER_ID)
                                        .setProducerEpoch(epoch)
                                        .setTopics(List.of(topic)))));
        return error;
    }

    private CompletableFuture<ErrorCode> init(short epoch) {
        CompletableFuture<ErrorCode> error = new CompletableFuture<>();
        new InitProducerIdHandler(null, transactions.coordinators(), null)
                .handle(
                        client(response ->
                                error.complete(ErrorCode.of(((InitProducerIdResponse) response).errorCode()))),
                        new InitProducerIdRequest()
                                .setTransactionalId(ID)
                                .setTransactionTimeoutMs(60_000)
                                .setProducerId(PRODUCER_ID)
                                .setProducerEpoch(epoch));
        return error;
    }

    private static OffsetForLeaderEpochResponse epochEnd(ErrorCode error) {
        return new OffsetForLeaderEpochResponse()
                .setTopics(List.of(new OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult()
                        .setPartitions(List.of(
                                new OffsetForLeaderEpochResponse.EpochEndOffset().setErrorCode(error.code())))));
    }
}
