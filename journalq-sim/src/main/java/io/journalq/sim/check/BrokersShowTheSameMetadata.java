package io.journalq.sim.check;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.sim.world.SimBroker;
import io.journalq.sim.world.SimMachine;
import io.journalq.sim.world.SimWorld;
import java.util.TreeMap;

/** Some time after the last fault, all brokers show the same metadata: topics, leaders, brokers and the controller. */
public final class BrokersShowTheSameMetadata {
    private static final String INVARIANT = "BrokersShowTheSameMetadata";
    private static final int METADATA_VERSION = 12;

    private final SimWorld world;
    private final TreeMap<Integer, String> shown = new TreeMap<>();

    /** Whether what is in {@link #shown} is the same. Kept, because it is asked for after each event. */
    private boolean same;

    public BrokersShowTheSameMetadata(SimWorld world) {
        this.world = world;
    }

    /** Asks all brokers, without the network. Repeated until {@link #isSame}. */
    public void ask() {
        shown.clear();
        same = false;
        for (SimMachine machine : world.machines()) {
            SimBroker broker = machine.broker();
            if (broker != null) {
                broker.connect()
                        .send(
                                ApiKey.METADATA,
                                METADATA_VERSION,
                                new MetadataRequest().setTopics(null),
                                message -> onResponse(machine.node().id(), message));
            }
        }
    }

    private void onResponse(int broker, ApiMessage message) {
        shown.put(broker, describe(message));
        same = shown.values().stream().distinct().count() == 1;
    }

    /** Whether all brokers have responded, and show the same. */
    public boolean isSame() {
        return same && shown.size() == world.machines().size();
    }

    /** Reports what differs. */
    public void check() {
        if (!isSame()) {
            world.violations().report(INVARIANT, shown.toString());
        }
    }

    private static String describe(ApiMessage message) {
        MetadataResponse response = (MetadataResponse) message;
        return "cluster " + response.clusterId() + ", controller " + response.controllerId() + ", " + response.brokers()
                + ", " + response.topics();
    }
}
