package io.journalq.conformance;

import java.lang.reflect.Proxy;
import java.util.Map;
import kafka.server.KafkaBroker;
import kafka.server.KafkaConfig;
import org.apache.kafka.metadata.BrokerState;
import org.opentest4j.TestAbortedException;

/** What tests may do to a broker from outside; any other access aborts the test. */
final class BrokerHandle {
    private BrokerHandle() {}

    static KafkaBroker of(JournalQCluster cluster, ClusterBroker broker) {
        return (KafkaBroker) Proxy.newProxyInstance(
                KafkaBroker.class.getClassLoader(),
                new Class<?>[] {KafkaBroker.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "shutdown" -> {
                        broker.stop();
                        yield null;
                    }
                    case "startup" -> {
                        cluster.startBroker(broker.id());
                        yield null;
                    }
                    // A stop returns when it is done.
                    case "awaitShutdown" -> null;
                    case "isShutdown" -> broker.isStopped();
                    case "brokerState" ->
                        broker.isServing()
                                ? BrokerState.RUNNING
                                : broker.isStopped() ? BrokerState.SHUTTING_DOWN : BrokerState.STARTING;
                    case "boundPort" -> broker.port();
                    case "config" -> config(broker);
                    case "clusterId" -> cluster.clusterId();
                    case "hashCode" -> broker.id();
                    case "equals" -> arguments[0] instanceof KafkaBroker other && other.hashCode() == broker.id();
                    case "toString" -> "broker " + broker.id() + " of " + cluster;
                    default -> throw looksInside();
                });
    }

    /** As far as tests read it: the id, the address and the directory of a broker. */
    private static KafkaConfig config(ClusterBroker broker) {
        return new KafkaConfig(Map.of(
                "process.roles",
                "broker",
                "node.id",
                Integer.toString(broker.id()),
                "listeners",
                "PLAINTEXT://" + broker.address(),
                "controller.listener.names",
                "CONTROLLER",
                "controller.quorum.bootstrap.servers",
                broker.address(),
                "log.dirs",
                broker.directory().toString()));
    }

    static TestAbortedException looksInside() {
        return new TestAbortedException("looks inside Kafka's own broker object");
    }
}
