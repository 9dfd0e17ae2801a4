package io.journalq.server.metadata;

import io.journalq.common.id.Uuid;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.metadata.BrokerRegistration.FeatureLevels;
import java.util.List;

/** Brokers for tests of metadata. */
public final class TestBrokers {
    private TestBrokers() {}

    /** The registration of a broker without a rack. */
    public static BrokerRegistration registration(int nodeId) {
        return registration(nodeId, "");
    }

    /** The registration of a broker in a rack. */
    public static BrokerRegistration registration(int nodeId, String rack) {
        return new BrokerRegistration(
                nodeId,
                new Uuid(9, nodeId),
                List.of(new ListenerAddress("PLAINTEXT", "broker-" + nodeId, 9092)),
                rack,
                List.of(new FeatureLevels("cluster.version", (short) 1, (short) 1)),
                List.of(new Uuid(8, nodeId)));
    }

    /** A live broker in a rack. */
    static BrokerImage image(int nodeId, String rack) {
        return new BrokerImage(registration(nodeId, rack), 0, 0, false, false, false);
    }

    /** Registers brokers. */
    public static void register(MetadataMachine machine, int... nodeIds) {
        for (int nodeId : nodeIds) {
            machine.replay(
                    machine.registrations().register(registration(nodeId), -1).records());
        }
    }
}
