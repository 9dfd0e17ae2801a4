package io.journalq.sim.world;

import io.journalq.server.broker.BrokerCore;
import io.journalq.server.control.ControllerOperations;
import io.journalq.sim.disk.SimDisk.CrashKind;
import java.io.IOException;

/** A broker of a simulated cluster, over all of its lives. */
public final class SimMachine {
    private final SimWorld world;
    private final SimNode node;
    private final SimSlices slices;
    private final SimBroker.Plan plan;
    /** Null while the broker is down or starts. */
    private SimBroker broker;
    /** Null while the broker is down, or has not opened its metadata. */
    private ControllerOperations controller;

    private boolean down = true;
    private boolean leaving;
    private long servedUntilMs;

    SimMachine(SimWorld world, SimNode node, SimSlices slices, SimBroker.Plan plan) {
        this.world = world;
        this.node = node;
        this.slices = slices;
        this.plan = plan;
    }

    public SimNode node() {
        return node;
    }

    /** The broker if it serves clients, otherwise null. */
    public SimBroker broker() {
        return broker;
    }

    /** When the broker last served clients, if it is down. It has not recovered since then. */
    public long servedUntilMs() {
        return servedUntilMs;
    }

    ControllerOperations controller() {
        return controller;
    }

    /** The current process has a controller. */
    void offer(ControllerOperations offered) {
        controller = offered;
    }

    /** Whether there is no process. */
    public boolean isDown() {
        return down;
    }

    /** Begins a process. The broker serves clients some time later. */
    public void start() {
        down = false;
        node.process().begin(0, this::run);
    }

    private void run() {
        BrokerCore.Membership membership =
                new BrokerCore.Membership(world.quorum().log(node), new SimPeerControllers(world, this));
        try {
            SimBroker started = SimBroker.start(
                    plan,
                    node,
                    world.interference().disk(node.disk()),
                    world.violations(),
                    membership,
                    new SimPeerChannels(world, this));
            started.setInterference(world.interference());
            broker = started;
        } catch (IOException | IllegalStateException refused) {
            world.violations().report("BrokerStarts", "broker " + node.id() + ": " + refused);
        }
    }

    /** Whether {@link #stop} has begun and not ended. */
    public boolean isLeaving() {
        return leaving;
    }

    /**
     * Stops the broker, which serves clients, as an operator does: others take over first. Then the process ends.
     *
     * @param onStopped called then, unless the process crashes before
     */
    public void stop(Runnable onStopped) {
        leaving = true;
        SimBroker stopping = broker;
        SimProcess process = node.process();
        process.begin(0, () -> {
            try {
                stopping.leave();
            } catch (IOException | IllegalStateException failure) {
                world.violations().report("BrokerStops", "broker " + node.id() + ": " + failure);
            }
            world.scheduler().after(0, () -> {
                if (!process.isStopped()) {
                    crash(CrashKind.KILL);
                    onStopped.run();
                }
            });
        });
    }

    /** The process ends at once. */
    public void crash(CrashKind kind) {
        SimProcess gone = node.process();
        servedUntilMs = broker == null ? servedUntilMs : gone.inTimeUntilMs();
        down = true;
        leaving = false;
        broker = null;
        controller = null;
        node.crash();
        world.network().resetAll(gone);
        node.restart(kind);
        slices.restart(kind);
    }
}
