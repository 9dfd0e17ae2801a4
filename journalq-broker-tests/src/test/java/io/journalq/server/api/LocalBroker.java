package io.journalq.server.api;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.server.broker.BrokerCore;
import io.journalq.server.broker.BrokerEnvironment;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Controller;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.Loop;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.peer.PeerChannel;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.security.ClientThrottles;
import io.journalq.server.security.Principal;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A broker without sockets and files, whose clients may be any users on any hosts. */
final class LocalBroker implements AutoCloseable {
    private static final int TIMEOUT_S = 60;
    private static final long HEAP_BYTES = 1L << 30;

    private final EventLoops loops = new EventLoops(2);
    private final ExecutorService pool = Executors.newCachedThreadPool();
    private final BrokerCore core;

    /** A client of one session. */
    final class User implements AutoCloseable {
        private final ClientSession session;
        private final LocalCall.Client client;

        private User(String name, String host) {
            session = new ClientSession(
                    name == null ? Principal.ANONYMOUS : Principal.user(name),
                    new ClientThrottles(core::quotas, System::nanoTime),
                    MemoryAccount.UNBOUNDED,
                    ms -> {});
            InetSocketAddress address = new InetSocketAddress(host, 9092);
            client = new LocalCall.Client(session, loops.cycles().get(0), "local", address, address, "PLAINTEXT", true);
        }

        /** Starts a request. The response is null if there is none. */
        CompletableFuture<ApiMessage> start(ApiMessage request, int version) {
            HandlerRegistry.Served served =
                    core.handlers().find(request.apiKey().id());
            CompletableFuture<ApiMessage> response = new CompletableFuture<>();
            LocalCall call = new LocalCall(client, served, version, 0, response::complete);
            client.cycle().execute(() -> {
                try {
                    call.start(request);
                } catch (RuntimeException defect) {
                    response.completeExceptionally(defect);
                }
            });
            return response;
        }

        <T extends ApiMessage> T call(Class<T> type, ApiMessage request, int version) throws Exception {
            T response = type.cast(start(request, version).get(TIMEOUT_S, TimeUnit.SECONDS));
            if (request instanceof ProduceRequest produce) {
                produce.topicData().get(0).partitionData().get(0).records().release();
            }
            return response;
        }

        @Override
        public void close() {
            client.cycle().execute(session::close);
        }
    }

    /** @param settings in addition to those of a broker in memory */
    LocalBroker(Map<String, String> settings) throws ConfigException, IOException {
        Map<String, String> all = new TreeMap<>(settings);
        all.putIfAbsent("data.directories", "in-memory");
        all.putIfAbsent("write.ahead.max.bytes", "0");
        all.putIfAbsent("group.initial.rebalance.delay.ms", "0");
        BrokerConfig config = BrokerConfig.defaults();
        for (Map.Entry<String, String> setting : all.entrySet()) {
            config = config.with(setting.getKey(), setting.getValue(), ConfigOrigin.COMMAND_LINE);
        }
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
                        new NoPeers()));
        core.describe(
                List.of(new ListenerAddress("PLAINTEXT", "localhost", 9092)),
                () -> CompletableFuture.completedFuture(List.of()));
    }

    /** @param name null for a client that has not logged in */
    User user(String name, String host) {
        return new User(name, host);
    }

    HandlerRegistry handlers() {
        return core.handlers();
    }

    @Override
    public void close() throws IOException {
        core.close();
        loops.close();
        pool.shutdownNow();
    }

    /** There are no other brokers, but their requests are served. */
    private static final class NoPeers implements PeerChannels {
        @Override
        public CompletableFuture<ApiMessage> send(
                String host, int port, ApiMessage request, int version, int timeoutMs) {
            return CompletableFuture.failedFuture(new IOException("there is no other broker"));
        }

        @Override
        public PeerChannel open(String host, int port, Loop loop) {
            throw new IllegalStateException("there is no other broker");
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }
}
