package io.journalq.sim.world;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.api.BrokerIdentity;
import io.journalq.server.api.Handler;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.broker.BrokerCore;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.sim.disk.SimDisk;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** One life of the broker: from a start to a crash or a stop. */
public final class SimBroker {
    /** As if the process had it, so that every machine refuses the same. */
    private static final long HEAP_BYTES = 512L << 20;

    private static final ListenerAddress ADDRESS = new ListenerAddress("PLAINTEXT", "simulated", 9092);

    private final Scheduler scheduler;
    private final Random random;
    private final Violations violations;
    private final List<LoopCycle> cycles;
    private final BrokerCore core;
    private final List<SimRequest> open = new ArrayList<>();
    private Interference interference = Interference.NONE;
    private boolean running = true;

    /** A client's connection: it lives on one loop. */
    public final class Connection {
        private final LoopCycle cycle = cycles.get(random.nextInt(cycles.size()));
        private final Map<Class<?>, Object> states = new HashMap<>();

        private Connection() {}

        /**
         * Sends a request. Those of one connection arrive in order.
         *
         * @param onAnswer takes the answer at the moment when the broker gives it; null when there is none
         */
        @SuppressWarnings("unchecked") // the registry holds a handler of this API's request under its key
        public void send(ApiKey key, int version, ApiMessage request, Consumer<ApiMessage> onAnswer) {
            ApiMessage forged = interference.forge(request);
            if (forged != null) {
                onAnswer.accept(forged);
                return;
            }
            ApiMessage arriving = interference.onRequest(request);
            Consumer<ApiMessage> told =
                    answer -> onAnswer.accept(answer == null ? null : interference.onAnswer(answer));
            HandlerRegistry.Served served = core.handlers().find(key.id());
            SimRequest context = new SimRequest(SimBroker.this, (short) version, cycle, states, told);
            open.add(context);
            if (open.size() > 1_000) {
                open.removeIf(SimRequest::isAnswered);
            }
            cycle.loop().execute(() -> ((Handler<ApiMessage>) served.handler()).handle(context, arriving));
        }
    }

    private SimBroker(
            Scheduler scheduler, Random random, Violations violations, List<LoopCycle> cycles, BrokerCore core) {
        this.scheduler = scheduler;
        this.random = random;
        this.violations = violations;
        this.cycles = cycles;
        this.core = core;
        core.describe(new BrokerIdentity(0, List.of(ADDRESS)), () -> CompletableFuture.completedFuture(List.of()));
    }

    /**
     * What a broker is started on.
     *
     * @param slices what is stored of its coordinators' state
     * @param loops how many it has
     * @param longestPoolDelayMs how long what may block waits for a thread, at most
     */
    public record Plan(BrokerConfig config, SimDisk disk, SimSlices slices, int loops, long longestPoolDelayMs) {}

    /**
     * Starts a broker; when this returns it serves. Others may run meanwhile.
     *
     * @throws IOException when it cannot start
     */
    public static SimBroker start(Plan plan, Scheduler scheduler, Random random, Violations violations)
            throws IOException {
        SimLoop.Running running = new SimLoop.Running();
        List<SimLoop> loops = new ArrayList<>();
        for (int i = 0; i < plan.loops(); i++) {
            loops.add(new SimLoop(scheduler, random, running));
        }
        List<LoopCycle> cycles = LoopCycle.cycles(loops);
        BrokerCore core = BrokerCore.open(
                plan.config(),
                new BrokerCore.Surroundings(
                        plan.disk(),
                        cycles,
                        new SimExecutor(scheduler, Scheduler.Kind.POOL, plan.longestPoolDelayMs()),
                        new SimExecutor(scheduler, Scheduler.Kind.CONTROL, 0),
                        MemoryBudget.of(HEAP_BYTES, part -> 0),
                        new SimClock(scheduler),
                        () -> new Uuid(random.nextLong(), random.nextLong()),
                        scheduler::join),
                plan.slices());
        return new SimBroker(scheduler, random, violations, cycles, core);
    }

    /** From now on {@code planted} stands between this broker and its clients. */
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

    /** One of its loops. */
    public LoopCycle cycle(int index) {
        return cycles.get(index);
    }

    Violations violations() {
        return violations;
    }

    /** False once it has crashed or stopped: what it still says, nobody hears. */
    public boolean isRunning() {
        return running && !scheduler.isStopped();
    }

    /** Partitions that could not be opened. */
    public int offlinePartitions() {
        return core.offlinePartitions();
    }

    /** Requests that are not answered yet. */
    public long unanswered() {
        return open.stream().filter(request -> !request.isAnswered()).count();
    }

    /** The broker is gone. */
    public void forget() {
        running = false;
    }

    /** Stops it as an operator does; others may run meanwhile. */
    public void stop() throws IOException {
        core.close();
        running = false;
    }
}
