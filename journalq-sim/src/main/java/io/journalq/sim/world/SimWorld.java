package io.journalq.sim.world;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.metadata.record.ClusterRecord;
import io.journalq.sim.disk.SimDisk.CrashKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;

/** Several brokers of one cluster: their machines, the network between them, and the quorum of their metadata. */
public final class SimWorld {
    private static final String CLUSTER_ID = "SimulatedClusterAAAAAA";

    private final Scheduler scheduler;
    private final Violations violations;
    private final Interference interference;
    private final SimNetwork network;
    private final SimQuorum quorum;
    private final List<SimMachine> machines = new ArrayList<>();

    /**
     * What a seed determines about the brokers.
     *
     * @param brokers number of brokers, which have the ids from 1 on
     * @param loops number of shards of each broker
     * @param longestPoolDelayMs longest time that a blocking task waits for a thread
     * @param largestSkewMs by how much a clock is ahead or behind at most
     * @param largestDriftPpm by how much a clock is fast or slow at most
     * @param config the settings of a broker
     */
    public record Plan(
            int brokers,
            int loops,
            long longestPoolDelayMs,
            int largestSkewMs,
            int largestDriftPpm,
            IntFunction<BrokerConfig> config) {}

    /** Creates brokers that are down. */
    public SimWorld(
            Plan plan,
            Scheduler scheduler,
            Random random,
            Violations violations,
            SimQuorum.Odds odds,
            Interference interference,
            SimQuorum.Listener listener) {
        this.scheduler = scheduler;
        this.violations = violations;
        this.interference = interference;
        this.network = new SimNetwork(scheduler, random);
        this.quorum = new SimQuorum(
                scheduler,
                random,
                network,
                odds,
                interference,
                listener,
                List.of(new ClusterRecord().setClusterId(CLUSTER_ID)));
        for (int id = 1; id <= plan.brokers(); id++) {
            SimClock clock = new SimClock(
                    scheduler, between(random, plan.largestSkewMs()), between(random, plan.largestDriftPpm()));
            int machine = id - 1;
            SimNode node = new SimNode(id, scheduler, random, clock, () -> machines.get(machine)
                    .node()
                    .process()
                    .stop());
            SimSlices slices = new SimSlices(random, node.disk(), 0);
            SimBroker.Plan broker = new SimBroker.Plan(
                    interference.config(plan.config().apply(id)), slices, plan.loops(), plan.longestPoolDelayMs());
            machines.add(new SimMachine(this, node, slices, broker));
            quorum.add(id);
        }
    }

    private static int between(Random random, int largest) {
        return random.nextInt(2 * largest + 1) - largest;
    }

    public Scheduler scheduler() {
        return scheduler;
    }

    public SimNetwork network() {
        return network;
    }

    public Violations violations() {
        return violations;
    }

    Interference interference() {
        return interference;
    }

    SimQuorum quorum() {
        return quorum;
    }

    public List<SimMachine> machines() {
        return machines;
    }

    /** The machine of a broker; null if there is none with this id. */
    public SimMachine machine(int id) {
        return id < 1 || id > machines.size() ? null : machines.get(id - 1);
    }

    /** Ends the processes that have crashed in a call of their disk. */
    public List<SimMachine> collectCrashed(CrashKind kind) {
        List<SimMachine> crashed = machines.stream()
                .filter(machine -> !machine.isDown() && machine.node().process().isStopped())
                .toList();
        crashed.forEach(machine -> machine.crash(kind));
        return crashed;
    }
}
