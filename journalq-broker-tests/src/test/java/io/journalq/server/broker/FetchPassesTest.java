package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.DeleteTopicsRequest;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.api.ClientSession;
import io.journalq.server.api.LocalCall;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Controller;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.security.ClientThrottles;
import io.journalq.server.security.Principal;
import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import io.netty.buffer.ByteBuf;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Fetches of partitions on several loops, when something happens while one of the loops still reads. */
class FetchPassesTest {
    private static final int TIMEOUT_S = 30;
    private static final int VERSION = 12;
    private static final long HEAP_BYTES = 1L << 30;
    private static final byte[] VALUE = new byte[100];

    /** More than one batch with {@link #VALUE}, and less than two. */
    private static final int MIN_BYTES = 250;

    private static final Path DATA = Path.of("in-memory");
    private static final InetSocketAddress HERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 9092);

    private final EventLoops loops = new EventLoops(3);
    private final ExecutorService pool = Executors.newCachedThreadPool();
    private final FileStore store = new MemoryFileStore();
    private BrokerCore core;
    private LocalCall.Client client;
    private Uuid topicId;

    @BeforeEach
    void start() throws Exception {
        BrokerConfig config = BrokerConfig.defaults()
                .with("data.directories", DATA.toString(), ConfigOrigin.COMMAND_LINE)
                .with("write.ahead.max.bytes", "0", ConfigOrigin.COMMAND_LINE);
        Random random = new Random(1);
        core = BrokerCore.open(
                config,
                new BrokerEnvironment(
                        store,
                        loops.cycles(),
                        pool,
                        Controller.newThread(),
                        MemoryBudget.of(HEAP_BYTES, part -> 0),
                        Clock.systemUTC(),
                        () -> new Uuid(random.nextLong(), random.nextLong()),
                        CompletableFuture::join,
                        null));
        core.describe(
                List.of(new ListenerAddress("PLAINTEXT", "localhost", 9092)),
                () -> CompletableFuture.completedFuture(List.of()));
        CreateTopicsRequest create = new CreateTopicsRequest()
                .setTimeoutMs(10_000)
                .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                        .setName("t")
                        .setNumPartitions(3)
                        .setReplicationFactor((short) 1)));
        CreateTopicsResponse created = (CreateTopicsResponse)
                call(client(loops.cycles().get(0)), 7, create).get(TIMEOUT_S, TimeUnit.SECONDS);
        topicId = created.topics().get(0).topicId();
        // The other two partitions are on the other two loops.
        client = client(loopOf(2));
    }

    @AfterEach
    void stop() throws Exception {
        core.close();
        loops.close();
        pool.shutdownNow();
    }

    @Test
    void shouldRespondWhenThereIsEnoughAfterAPartitionHadALittleNewsDuringARead() throws Exception {
        // given a fetch that has read one partition, and waits for the loop of the other one
        CountDownLatch release = new CountDownLatch(1);
        loopOf(1).execute(() -> awaitRelease(release));
        CompletableFuture<ApiMessage> response = call(client, VERSION, fetch(0, 1));
        endIteration(client.cycle());
        endIteration(loopOf(0));

        // when the first one gets less than the fetch waits for, and then the read ends
        produce(0);
        endIteration(loopOf(0));
        endIteration(client.cycle());
        release.countDown();
        endIteration(loopOf(1));
        endIteration(client.cycle());
        assertThat(response).isNotDone();

        // and the first one gets the rest
        produce(0);

        // then the response does not wait any longer
        FetchResponse fetched = (FetchResponse) response.get(TIMEOUT_S, TimeUnit.SECONDS);
        FetchResponse.PartitionData data =
                fetched.responses().get(0).partitions().get(0);
        assertThat(data.highWatermark()).isEqualTo(2);
        data.records().release();
    }

    @Test
    void shouldKeepNothingOfAFetchWhenItsClientDisconnectsBeforeTheOtherLoopsRead() throws Exception {
        // given a client that disconnects in the iteration in which its fetch of idle partitions arrived
        WeakReference<ClientSession> session = fetchAndDisconnect();

        // when the other loops have read
        for (int partition = 0; partition < 3; partition++) {
            endIteration(loopOf(partition));
        }

        // then no partition knows the client any more
        for (int i = 0; i < 100 && session.get() != null; i++) {
            System.gc();
            Thread.sleep(10);
        }
        assertThat(session.get()).isNull();
    }

    private WeakReference<ClientSession> fetchAndDisconnect() throws Exception {
        LocalCall.Client hasty = client(loopOf(2));
        CompletableFuture<ApiMessage> response = new CompletableFuture<>();
        hasty.cycle().execute(() -> {
            new LocalCall(hasty, core.handlers().find(ApiKey.FETCH.id()), VERSION, 0, response::complete)
                    .start(fetch(0, 1));
            hasty.session().close();
        });
        assertThat(response.get(TIMEOUT_S, TimeUnit.SECONDS)).isNotNull();
        return new WeakReference<>(hasty.session());
    }

    @Test
    void shouldDeleteThePartitionsOfATopicWhenAFetchLooksForThemBeforeTheirLoopKnows() throws Exception {
        // given a session with a partition that is parked on another loop, which is busy
        FetchResponse first = fetchInSession(0, 0);
        CountDownLatch release = new CountDownLatch(1);
        loopOf(0).execute(() -> awaitRelease(release));

        // when the topic is deleted, and the client names the partition again
        DeleteTopicsRequest delete =
                new DeleteTopicsRequest().setTimeoutMs(10_000).setTopicNames(List.of("t"));
        call(client, 5, delete).get(TIMEOUT_S, TimeUnit.SECONDS);
        FetchResponse second = fetchInSession(first.sessionId(), 1);
        assertThat(second.responses().get(0).partitions().get(0).errorCode())
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
        release.countDown();

        // then no files are left
        String directory = StoredPartition.directoryName(topicId, 0);
        for (int i = 0; i < 200 && store.list(DATA).contains(directory); i++) {
            Thread.sleep(10);
        }
        assertThat(store.list(DATA)).doesNotContain(directory);
    }

    private FetchResponse fetchInSession(int id, int epoch) throws Exception {
        FetchRequest request = fetch(0).setMaxWaitMs(1).setSessionId(id).setSessionEpoch(epoch);
        return (FetchResponse) call(client, VERSION, request).get(TIMEOUT_S, TimeUnit.SECONDS);
    }

    private LoopCycle loopOf(int partition) {
        return core.shards().shardOf(topicId, partition).cycle();
    }

    private static void awaitRelease(CountDownLatch latch) {
        try {
            assertThat(latch.await(TIMEOUT_S, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until a loop has ended an iteration with everything that it has been given. */
    private static void endIteration(LoopCycle cycle) throws Exception {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        cycle.execute(() -> cycle.enqueueForNextIteration(() -> ended.complete(null)));
        ended.get(TIMEOUT_S, TimeUnit.SECONDS);
    }

    private void produce(int partition) throws Exception {
        ByteBuf batch = WireClient.batch(1, VALUE);
        call(client(loopOf(partition)), VERSION, WireClient.produceRequest("t", partition, batch))
                .get(TIMEOUT_S, TimeUnit.SECONDS);
        batch.release();
    }

    private static FetchRequest fetch(int... partitions) {
        return new FetchRequest()
                .setMaxWaitMs(60_000)
                .setMinBytes(MIN_BYTES)
                .setMaxBytes(10_000)
                .setSessionEpoch(-1)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic("t")
                        .setPartitions(IntStream.of(partitions)
                                .mapToObj(partition -> new FetchRequest.FetchPartition()
                                        .setPartition(partition)
                                        .setPartitionMaxBytes(10_000))
                                .toList())));
    }

    private LocalCall.Client client(LoopCycle cycle) {
        ClientSession session = new ClientSession(
                Principal.ANONYMOUS,
                new ClientThrottles(core::quotas, System::nanoTime),
                MemoryAccount.UNBOUNDED,
                pauseMs -> {});
        return new LocalCall.Client(session, cycle, "local", HERE, HERE, "PLAINTEXT", false);
    }

    private CompletableFuture<ApiMessage> call(LocalCall.Client sender, int version, ApiMessage request) {
        CompletableFuture<ApiMessage> response = new CompletableFuture<>();
        LocalCall call =
                new LocalCall(sender, core.handlers().find(request.apiKey().id()), version, 0, response::complete);
        sender.cycle().execute(() -> call.start(request));
        return response;
    }
}
