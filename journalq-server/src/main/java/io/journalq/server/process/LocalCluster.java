package io.journalq.server.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Brokers of one cluster, each in a process of its own on this machine. The first one that is started founds the
 * cluster, and the others join it. The node ids, addresses and data directories stay the same when a broker is started
 * again. Used by one thread at a time; any thread may close it.
 */
public class LocalCluster implements AutoCloseable {
    private static final String HEAP = "256m";
    /** The brokers live for a short time, which favors a fast start. */
    private static final List<String> JAVA_OPTIONS = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private static final int POLL_MS = 50;

    private final Path directory;
    private final Map<String, String> settings;
    private final Route route;
    private final Map<Integer, Map<String, String>> settingsOf = new HashMap<>();
    private final Map<Integer, Node> nodes = new ConcurrentSkipListMap<>();

    /** A broker with the ports at which it listens, and those at which others reach it. */
    private record Node(int port, int quorumPort, int openPort, int openQuorumPort, BrokerProcess process) {
        String address() {
            return at(openPort);
        }
    }

    /** How clients and other brokers reach a port of a broker. */
    @FunctionalInterface
    public interface Route {
        /** The port to which they connect instead of {@code port}. */
        int open(int id, int port) throws IOException;
    }

    /**
     * Prepares a cluster without brokers.
     *
     * @param directory for the data and the logs of all brokers
     * @param settings settings of all brokers, in addition to those that a cluster on one machine needs
     */
    public LocalCluster(Path directory, Map<String, String> settings) {
        this(directory, settings, (id, port) -> port);
    }

    /**
     * Prepares a cluster without brokers.
     *
     * @param route is asked once for each port, before its broker is started
     */
    public LocalCluster(Path directory, Map<String, String> settings, Route route) {
        this.directory = directory;
        this.settings = Map.copyOf(settings);
        this.route = route;
    }

    private static String at(int port) {
        return "127.0.0.1:" + port;
    }

    private Node node(int id) throws IOException {
        Node node = nodes.get(id);
        if (node == null) {
            int port = LoopbackPorts.next();
            int quorumPort = LoopbackPorts.next();
            node = new Node(
                    port,
                    quorumPort,
                    route.open(id, port),
                    route.open(id, quorumPort),
                    new BrokerProcess(log(id), HEAP, JAVA_OPTIONS));
            nodes.put(id, node);
        }
        return node;
    }

    /** Where clients reach a broker that has been started, as {@code host:port}. */
    public final String address(int id) throws IOException {
        return node(id).address();
    }

    /** The port of {@link #address}. */
    public final int port(int id) throws IOException {
        return node(id).openPort();
    }

    /** Sets a setting of one broker, instead of that of all brokers, from its next start on. */
    public final void set(int id, String name, String value) {
        settingsOf.computeIfAbsent(id, none -> new HashMap<>()).put(name, value);
    }

    /** Starts the process of a broker, and does not wait until it serves. */
    public final void start(int id) throws IOException {
        Node node = node(id);
        Map<String, String> all = new LinkedHashMap<>();
        all.put("node.id", Integer.toString(id));
        all.put("listeners", "PLAINTEXT://" + at(node.port()));
        all.put("quorum.listener", "QUORUM://" + at(node.quorumPort()));
        all.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,QUORUM:PLAINTEXT");
        all.put(
                "advertised.listeners",
                "PLAINTEXT://" + at(node.openPort()) + ",QUORUM://" + at(node.openQuorumPort()));
        all.put("admin.listener", "");
        all.put("gateway.listener", "");
        all.put("data.directories", data(id).toString());
        // A broker with data ignores this. One without takes the place that its id has in the cluster.
        all.put(
                "cluster.join",
                nodes.entrySet().stream()
                        .filter(other -> other.getKey() != id)
                        .map(other -> other.getValue().address())
                        .collect(Collectors.joining(",")));
        all.putAll(settings);
        all.putAll(settingsOf.getOrDefault(id, Map.of()));
        Files.createDirectories(directory);
        node.process().start(all);
    }

    /**
     * Starts the brokers 1 to {@code brokers}, each when those before it serve.
     *
     * @param seconds time that each broker has
     * @throws IOException if a broker ends, or does not serve in time
     */
    public final void startAll(int brokers, int seconds) throws IOException, InterruptedException {
        for (int id = 1; id <= brokers; id++) {
            start(id);
            awaitServing(id, seconds);
        }
    }

    /**
     * Waits until a broker serves clients.
     *
     * @throws IOException if it ends, or does not serve within {@code seconds}
     */
    public final void awaitServing(int id, int seconds) throws IOException, InterruptedException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!isServing(id)) {
            if (!isAlive(id)) {
                throw new IOException("broker " + id + " ended with exit code "
                        + process(id).exitCode() + " when it started; see " + log(id));
            }
            if (System.nanoTime() > deadlineNanos) {
                throw new IOException("broker " + id + " does not serve within " + seconds + " s; see " + log(id));
            }
            Thread.sleep(POLL_MS);
        }
    }

    /** The process of a broker that has been started, and may have ended. Any thread. */
    public final BrokerProcess process(int id) {
        return nodes.get(id).process();
    }

    /** Id of the process of a broker; 0 if it has not been started. Any thread. */
    public final long pid(int id) {
        Node node = nodes.get(id);
        return node != null && node.process().isAlive() ? node.process().pid() : 0;
    }

    /** Forgets a broker that has ended and left the cluster: its address is no longer one of the cluster's. */
    public final void forget(int id) {
        Node node = nodes.remove(id);
        if (node != null) {
            node.process().close();
        }
    }

    /** Whether a broker serves clients. */
    public final boolean isServing(int id) {
        return process(id).isServing(data(id));
    }

    public final boolean isAlive(int id) {
        return process(id).isAlive();
    }

    /** The data directory of a broker. */
    public final Path data(int id) {
        return directory.resolve("broker" + id);
    }

    /** The port at which other brokers reach the {@code quorum.listener} of a broker. */
    public final int quorumPort(int id) {
        return nodes.get(id).openQuorumPort();
    }

    /** The file to which a broker logs. */
    public final Path log(int id) {
        return directory.resolve("broker" + id + ".log");
    }

    /** The addresses of all brokers that have been started, separated by commas. */
    public final String bootstrapServers() {
        return nodes.values().stream().map(Node::address).collect(Collectors.joining(","));
    }

    /** Kills a broker (SIGKILL). */
    public final void kill(int id) {
        process(id).kill();
    }

    /** Tells a broker to stop (SIGTERM). Returns whether it has stopped in time. */
    public final boolean stop(int id, int seconds) throws InterruptedException {
        return process(id).stop(seconds);
    }

    /** Freezes a broker (SIGSTOP). */
    public final void freeze(int id) {
        process(id).freeze();
    }

    /** Lets a frozen broker continue (SIGCONT). */
    public final void thaw(int id) {
        process(id).thaw();
    }

    /** Kills all brokers. */
    @Override
    public final void close() {
        nodes.values().forEach(node -> node.process().close());
    }
}
