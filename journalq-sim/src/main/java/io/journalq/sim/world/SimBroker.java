package io.journalq.sim.world;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.server.api.ClientSession;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.LocalCall;
import io.journalq.server.broker.BrokerCore;
import io.journalq.server.broker.BrokerEnvironment;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.security.ClientThrottles;
import io.journalq.server.security.Principal;
import io.journalq.server.shard.partition.ReplicaStatus;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One life of the broker, from a start to a crash or a stop. */
public final class SimBroker {
    /** The heap on which memory limits are based, so that these are the same on every machine. */
    private static final long HEAP_BYTES = 512L << 20;

    private static final InetSocketAddress NOWHERE = new InetSocketAddress(address(), 9092);
    private static final ListenerAddress ADDRESS = new ListenerAddress("PLAINTEXT", "simulated", 9092);

    private final SimProcess process;
    private final Random random;
    private final Violations violations;
    private final List<LoopCycle> cycles;
    private final BrokerCore core;
    private final ClientThrottles throttles;
    private Interference interference = Interference.NONE;
    private boolean running = true;
    private final Set<WaitingFetch> waitingFetches = new HashSet<>();
    private long pendingRequests;

    /** A connection of a client, which belongs to one event loop. */
    public final class Connection {
        private final LoopCycle cycle = cycles.get(random.nextInt(cycles.size()));
        private final ClientSession session =
                new ClientSession(Principal.ANONYMOUS, throttles, MemoryAccount.UNBOUNDED, ms -> {});
        private final LocalCall.Client client =
                new LocalCall.Client(session, cycle, "simulated", NOWHERE, NOWHERE, ADDRESS.name(), false);

        private Connection() {}

        /** The broker notices the end of the connection. */
        public void close() {
            if (isRunning()) {
                cycle.loop().execute(session::close);
            }
        }

        /**
         * Sends a request. Requests of one connection arrive in order.
         *
         * @param onResponse takes the response at the moment when the broker sends it; null if there is none
         */
        public void send(ApiKey key, int version, ApiMessage request, Consumer<ApiMessage> onResponse) {
            if (!isRunning()) {
                return; // The connection is closed.
            }
            ApiMessage forged = interference.forge(request);
            if (forged != null) {
                onResponse.accept(forged);
                return;
            }
            WaitingFetch fetch = request instanceof FetchRequest wanted ? new WaitingFetch(wanted.maxWaitMs()) : null;
            ApiMessage arriving = interference.onRequest(request);
            HandlerRegistry.Served served = core.handlers().find(key.id());
            pendingRequests++;
            LocalCall call = new LocalCall(client, served, version, 0, response -> {
                pendingRequests--;
                waitingFetches.remove(fetch);
                if (isRunning()) {
                    onResponse.accept(response == null ? null : interference.onResponse(response));
                }
            });
            if (fetch != null) {
                waitingFetches.add(fetch);
            }
            cycle.loop().execute(() -> call.start(arriving));
        }
    }

    /** A fetch without a response. */
    private final class WaitingFetch {
        private final long dueNanos;

        WaitingFetch(int maxWaitMs) {
            dueNanos = nowNanos() + TimeUnit.MILLISECONDS.toNanos(maxWaitMs);
        }
    }

    private SimBroker(
            SimProcess process, Random random, Violations violations, List<LoopCycle> cycles, BrokerCore core) {
        this.process = process;
        this.random = random;
        this.violations = violations;
        this.cycles = cycles;
        this.core = core;
        this.throttles =
                new ClientThrottles(core::quotas, () -> cycles.get(0).loop().nanoTime());
    }

    private static InetAddress address() {
        try {
            return InetAddress.getByAddress(new byte[] {10, 0, 0, 1});
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * The environment of a broker.
     *
     * @param slices stored state of its coordinators
     * @param loops number of event loops
     * @param longestPoolDelayMs longest time that a blocking task waits for a thread
     */
    public record Plan(BrokerConfig config, SimSlices slices, int loops, long longestPoolDelayMs) {}

    /**
     * Starts a broker in the current process of a machine. It serves requests when this returns. Other events may run
     * meanwhile.
     *
     * @throws IOException if it cannot start
     */
    public static SimBroker start(Plan plan, SimNode node, Violations violations) throws IOException {
        return start(plan, node, node.disk(), violations, null, null);
    }

    /** Like {@link #start(Plan, SimNode, Violations)}, as a broker of a cluster; nulls for a broker that is alone. */
    static SimBroker start(
            Plan plan,
            SimNode node,
            FileStore disk,
            Violations violations,
            BrokerCore.Membership membership,
            PeerChannels peers)
            throws IOException {
        SimProcess process = node.process();
        Random random = node.random();
        SimLoop.Running running = new SimLoop.Running();
        List<SimLoop> loops = new ArrayList<>();
        for (int i = 0; i < plan.loops(); i++) {
            loops.add(new SimLoop(process, random, running));
        }
        List<LoopCycle> cycles = LoopCycle.cycles(loops);
        BrokerCore core = BrokerCore.open(
                plan.config(),
                new BrokerEnvironment(
                        disk,
                        cycles,
                        new SimExecutor(process, Scheduler.Kind.POOL, plan.longestPoolDelayMs()),
                        new SimExecutor(process, Scheduler.Kind.CONTROL, 0),
                        MemoryBudget.of(HEAP_BYTES, part -> 0),
                        node.clock(),
                        () -> new Uuid(random.nextLong(), random.nextLong()),
                        process::join,
                        peers),
                plan.slices(),
                membership);
        try {
            core.describe(List.of(ADDRESS), () -> CompletableFuture.completedFuture(List.of()));
        } catch (IOException failure) {
            core.close();
            throw failure;
        }
        // A broker that waits for others within its start would keep them from going on.
        var unused = core.serve();
        return new SimBroker(process, random, violations, cycles, core);
    }

    /** Puts {@code planted} between this broker and its clients. */
    public void setInterference(Interference planted) {
        interference = planted;
    }

    public Connection connect() {
        return new Connection();
    }

    /** The handlers of all APIs. */
    public HandlerRegistry handlers() {
        return core.handlers();
    }

    /** One of its event loops. */
    public LoopCycle cycle(int index) {
        return cycles.get(index);
    }

    Violations violations() {
        return violations;
    }

    /** False after a crash or a stop. Responses after that are lost. */
    public boolean isRunning() {
        return running && !process.isStopped();
    }

    /** Partitions that could not be opened. */
    public int offlinePartitions() {
        return core.offlinePartitions();
    }

    /** The partitions of this broker, as they are now. */
    public List<ReplicaStatus> replicas() {
        return core.replicas();
    }

    /** Number of requests without a response. */
    public long pendingRequests() {
        return pendingRequests;
    }

    /** For how long a fetch has been waiting beyond the time that it allows; 0 if none has. */
    public long overdueMs() {
        long nowNanos = nowNanos();
        long overdueNanos = waitingFetches.stream()
                .mapToLong(fetch -> nowNanos - fetch.dueNanos)
                .max()
                .orElse(0);
        return Math.max(0, TimeUnit.NANOSECONDS.toMillis(overdueNanos));
    }

    private long nowNanos() {
        return cycles.get(0).loop().nanoTime();
    }

    /** The broker has crashed. */
    public void forget() {
        running = false;
    }

    /** Stops a broker of a cluster as an operator does: others take over first. Other events may run meanwhile. */
    void leave() throws IOException {
        core.handOver();
        running = false;
        core.close();
    }

    /** Stops the broker as an operator does. Other events may run meanwhile. */
    public void stop() throws IOException {
        core.handOver();
        core.close();
        running = false;
    }
}
