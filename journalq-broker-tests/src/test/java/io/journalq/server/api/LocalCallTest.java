package io.journalq.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterClientQuotasRequest;
import io.journalq.common.protocol.message.AlterClientQuotasResponse;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.server.broker.BrokerCore;
import io.journalq.server.broker.BrokerEnvironment;
import io.journalq.server.broker.WireClient;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Controller;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.security.ClientThrottles;
import io.journalq.server.security.Principal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Produces to and fetches from a broker without sockets. */
class LocalCallTest {
    private static final int TIMEOUT_S = 60;
    private static final long HEAP_BYTES = 1L << 30;
    private static final InetSocketAddress HERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 9092);

    private final EventLoops loops = new EventLoops(2);
    private final ExecutorService pool = Executors.newCachedThreadPool();
    private final AtomicInteger pausedMs = new AtomicInteger();
    private BrokerCore core;
    private LocalCall.Client client;

    @BeforeEach
    void start() throws Exception {
        BrokerConfig config = BrokerConfig.defaults()
                .with("data.directories", "in-memory", ConfigOrigin.COMMAND_LINE)
                .with("write.ahead.max.bytes", "0", ConfigOrigin.COMMAND_LINE);
        Random random = new Random(1);
        core = BrokerCore.open(
                config,
                new BrokerEnvironment(
                        new MemoryFileStore(),
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
        client = client(loops.cycles().get(0));
        CreateTopicsResponse created = (CreateTopicsResponse) call(
                7,
                new CreateTopicsRequest()
                        .setTimeoutMs(10_000)
                        .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                                .setName("t")
                                .setNumPartitions(2)
                                .setReplicationFactor((short) 1))));
        assertThat(created.topics().get(0).errorCode()).isZero();
    }

    @AfterEach
    void stop() throws Exception {
        core.close();
        loops.close();
        pool.shutdownNow();
    }

    @Test
    void shouldProduceAndFetchWhenTheClientHasNoSocket() throws Exception {
        for (int partition = 0; partition < 2; partition++) {
            ProduceResponse produced = (ProduceResponse)
                    call(12, WireClient.produceRequest("t", partition, WireClient.batch(3, new byte[10])));
            assertThat(produced.responses().get(0).partitionResponses().get(0).errorCode())
                    .isZero();

            FetchResponse fetched = (FetchResponse) call(12, fetch(partition));
            FetchResponse.PartitionData data =
                    fetched.responses().get(0).partitions().get(0);
            assertThat(data.highWatermark()).isEqualTo(3);
            assertThat(data.records().sizeBytes()).isPositive();
            data.records().release();
        }
    }

    @Test
    void shouldEndWithoutAResponseWhenNoAcknowledgementIsWanted() throws Exception {
        ProduceRequest request = WireClient.produceRequest("t", 0, WireClient.batch(1, new byte[10]));

        assertThat(call(12, request.setAcks((short) 0))).isNull();
    }

    @Test
    void shouldReadRecordsOnlyWhenTheCallerHasMemoryForThem() throws Exception {
        call(12, WireClient.produceRequest("t", 0, WireClient.batch(3, new byte[10])));
        CompletableFuture<Long> reservedBytes = new CompletableFuture<>();
        CompletableFuture<Runnable> waiting = new CompletableFuture<>();
        LocalCall.Client inMemory = client(client.cycle(), true).reserving((sizeBytes, granted) -> {
            reservedBytes.complete(sizeBytes);
            waiting.complete(granted);
            return false;
        });

        CompletableFuture<ApiMessage> response = start(inMemory, 12, fetch(0), 0);
        Runnable granted = waiting.get(TIMEOUT_S, TimeUnit.SECONDS);
        CompletableFuture<Void> later = new CompletableFuture<>();
        client.cycle().execute(() -> later.complete(null));
        later.get(TIMEOUT_S, TimeUnit.SECONDS);
        assertThat(response).isNotDone();

        // when another thread gives memory back
        granted.run();
        FetchResponse fetched = (FetchResponse) response.get(TIMEOUT_S, TimeUnit.SECONDS);
        FetchResponse.PartitionData data =
                fetched.responses().get(0).partitions().get(0);
        assertThat((long) data.records().sizeBytes()).isEqualTo(reservedBytes.get());
        data.records().release();
    }

    @Test
    void shouldEnforceQuotasWhenTheRequestCameOverNoSocket() throws Exception {
        // given
        AlterClientQuotasResponse altered = (AlterClientQuotasResponse) call(
                1,
                new AlterClientQuotasRequest()
                        .setEntries(List.of(new AlterClientQuotasRequest.EntryData()
                                .setEntity(List.of(new AlterClientQuotasRequest.EntityData()
                                        .setEntityType("user")
                                        .setEntityName(Principal.ANONYMOUS.name())))
                                .setOps(List.of(new AlterClientQuotasRequest.OpData()
                                        .setKey("producer_byte_rate")
                                        .setValue(1_000))))));
        assertThat(altered.entries().get(0).errorCode()).isEqualTo(ErrorCode.NONE.code());

        // when 5,000 bytes are produced at 1,000 bytes/s, and the burst of one second is free
        ProduceResponse produced = (ProduceResponse)
                call(12, WireClient.produceRequest("t", 0, WireClient.batch(1, new byte[5_000])), 5_000);

        // then
        assertThat(produced.throttleTimeMs()).isBetween(3_900, 4_000);
        assertThat(pausedMs.get()).isBetween(3_900, 4_000);
    }

    @Test
    void shouldRefuseAVersionWhenItIsNotServed() {
        HandlerRegistry.Served produce = core.handlers().find(ApiKey.PRODUCE.id());

        assertThatThrownBy(() -> new LocalCall(client, produce, 2, 0, response -> {}))
                .hasMessageContaining("version");
    }

    private LocalCall.Client client(LoopCycle cycle) {
        return client(cycle, false);
    }

    private LocalCall.Client client(LoopCycle cycle, boolean wantsMemory) {
        ClientSession session = new ClientSession(
                Principal.ANONYMOUS,
                new ClientThrottles(core::quotas, System::nanoTime),
                MemoryAccount.UNBOUNDED,
                pausedMs::addAndGet);
        return new LocalCall.Client(session, cycle, "local", HERE, HERE, "PLAINTEXT", wantsMemory);
    }

    private static FetchRequest fetch(int partition) {
        return new FetchRequest()
                .setMaxWaitMs(5_000)
                .setMinBytes(1)
                .setMaxBytes(10_000)
                .setSessionEpoch(-1)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic("t")
                        .setPartitions(List.of(new FetchRequest.FetchPartition()
                                .setPartition(partition)
                                .setPartitionMaxBytes(10_000)))));
    }

    private ApiMessage call(int version, ApiMessage request) throws Exception {
        return call(version, request, 0);
    }

    private ApiMessage call(int version, ApiMessage request, int sizeBytes) throws Exception {
        ApiMessage given = start(client, version, request, sizeBytes).get(TIMEOUT_S, TimeUnit.SECONDS);
        if (request instanceof ProduceRequest produce) {
            produce.topicData().get(0).partitionData().get(0).records().release();
        }
        return given;
    }

    private CompletableFuture<ApiMessage> start(
            LocalCall.Client sender, int version, ApiMessage request, int sizeBytes) {
        HandlerRegistry.Served served = core.handlers().find(request.apiKey().id());
        CompletableFuture<ApiMessage> response = new CompletableFuture<>();
        LocalCall call = new LocalCall(sender, served, version, sizeBytes, message -> {
            assertThat(sender.cycle().loop().inLoop()).isTrue();
            response.complete(message);
        });
        sender.cycle().execute(() -> call.start(request));
        return response;
    }
}
