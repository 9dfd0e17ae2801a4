package io.journalq.sim.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.sim.world.SimBroker;
import io.journalq.sim.world.SimMachine;
import io.journalq.sim.world.SimNetwork;
import io.journalq.sim.world.SimWorld;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The connections of one client, and what it knows about the cluster. Requests to one broker arrive in order. */
final class ClusterClient {
    static final int UNKNOWN = -1;
    static final int METADATA_VERSION = 12;
    private static final int FIND_VERSION = 4;

    private static final long TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(1_000);

    private final SimWorld world;
    private final Random random;
    private final Map<Integer, Link> links = new HashMap<>();
    private final Map<String, Integer> leaders = new HashMap<>();
    private final Map<String, List<Integer>> replicas = new HashMap<>();
    private int controller = UNKNOWN;

    /** The kinds of coordinators. */
    enum Coordinators {
        GROUPS((byte) 0),
        TRANSACTIONS((byte) 1);

        private final byte keyType;

        Coordinators(byte keyType) {
            this.keyType = keyType;
        }
    }

    /** Where the coordinator of a group or of a transactional id is. */
    final class Coordinator {
        private final Coordinators kind;
        private final String key;
        private int broker = UNKNOWN;

        private Coordinator(Coordinators kind, String key) {
            this.kind = kind;
            this.key = key;
        }

        /** Calls {@code then} with the broker, or with {@link #UNKNOWN} if no broker tells. */
        void find(Consumer<Integer> then) {
            if (broker != UNKNOWN) {
                then.accept(broker);
                return;
            }
            FindCoordinatorRequest request =
                    new FindCoordinatorRequest().setKeyType(kind.keyType).setCoordinatorKeys(List.of(key));
            send(anyBroker(), ApiKey.FIND_COORDINATOR, FIND_VERSION, request, message -> {}, message -> {
                if (message instanceof FindCoordinatorResponse response
                        && response.coordinators().get(0).errorCode() == 0) {
                    broker = response.coordinators().get(0).nodeId();
                }
                then.accept(broker);
            });
        }

        /** It is not there any more. */
        void forget() {
            broker = UNKNOWN;
        }
    }

    /** A connection to one life of a broker. */
    private final class Link {
        private final SimBroker broker;
        private final SimBroker.Connection session;
        private final SimNetwork.Connection network;

        Link(SimMachine machine) {
            this.broker = machine.broker();
            this.session = broker.connect();
            this.network = world.network()
                    .connect(
                            SimNetwork.CLIENTS,
                            machine.node().id(),
                            machine.node().process(),
                            () -> {});
        }
    }

    ClusterClient(SimWorld world, Random random) {
        this.world = world;
        this.random = random;
    }

    Coordinator coordinator(Coordinators kind, String key) {
        return new Coordinator(kind, key);
    }

    Random random() {
        return random;
    }

    /** Runs {@code work} after a random time. */
    void later(long longestMs, Runnable work) {
        world.scheduler().later(TimeUnit.MILLISECONDS.toNanos(longestMs), work);
    }

    /** The broker that leads a partition, or {@link #UNKNOWN}. */
    int leaderOf(ClusterPartition partition) {
        return leaders.getOrDefault(partition.name(), UNKNOWN);
    }

    /** The brokers that have a partition; empty if they are not known. */
    List<Integer> replicasOf(ClusterPartition partition) {
        return replicas.getOrDefault(partition.name(), List.of());
    }

    /** The broker that is the controller, or {@link #UNKNOWN}. */
    int controller() {
        return controller;
    }

    /** The ids of all brokers. */
    List<Integer> brokers() {
        return world.machines().stream().map(machine -> machine.node().id()).toList();
    }

    int anyBroker() {
        return 1 + random.nextInt(world.machines().size());
    }

    /** Asks any broker for the metadata. {@code then} runs in any case. */
    void refresh(Runnable then) {
        send(
                anyBroker(),
                ApiKey.METADATA,
                METADATA_VERSION,
                new MetadataRequest().setTopics(null),
                message -> {},
                m -> {
                    if (m instanceof MetadataResponse response) {
                        take(response);
                    }
                    then.run();
                });
    }

    private void take(MetadataResponse response) {
        controller = response.controllerId();
        leaders.clear();
        replicas.clear();
        for (MetadataResponse.MetadataResponseTopic topic : response.topics()) {
            for (MetadataResponse.MetadataResponsePartition partition : topic.partitions()) {
                if (partition.errorCode() == ErrorCode.NONE.code()) {
                    String name = topic.name() + "-" + partition.partitionIndex();
                    leaders.put(name, partition.leaderId());
                    replicas.put(name, partition.replicaNodes());
                }
            }
        }
    }

    /**
     * Sends a request.
     *
     * @param onServed called with the response at the moment when the broker sends it
     * @param onResult called once: with the response when it arrives, or with null if it does not
     */
    void send(
            int nodeId,
            ApiKey key,
            int version,
            ApiMessage request,
            Consumer<ApiMessage> onServed,
            Consumer<ApiMessage> onResult) {
        Link link = link(nodeId);
        boolean[] done = new boolean[1];
        Consumer<ApiMessage> once = result -> {
            if (!done[0]) {
                done[0] = true;
                onResult.accept(result);
            }
        };
        if (link == null) {
            later(10, () -> once.accept(null));
            return;
        }
        link.network.send(() -> link.session.send(key, version, request, response -> {
            onServed.accept(response);
            link.network.respond(() -> once.accept(response));
        }));
        world.scheduler().after(TIMEOUT_NANOS, () -> {
            if (!done[0]) {
                link.network.close();
                once.accept(null);
            }
        });
    }

    private Link link(int nodeId) {
        SimMachine machine = world.machine(nodeId);
        SimBroker broker = machine == null ? null : machine.broker();
        Link known = links.get(nodeId);
        if (known != null && known.broker == broker && known.network.isOpen()) {
            return known;
        }
        if (broker == null || machine.node().process().isStopped()) {
            return null;
        }
        Link opened = new Link(machine);
        links.put(nodeId, opened);
        return opened;
    }
}
