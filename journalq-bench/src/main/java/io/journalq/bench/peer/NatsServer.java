package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ChildProcess;
import io.journalq.bench.measure.BrokerNode;
import io.journalq.bench.measure.ProcessFinder;
import io.journalq.server.process.LoopbackPorts;
import io.nats.client.Connection;
import io.nats.client.Nats;
import io.nats.client.Options;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A NATS server: a running one, or the {@code nats-server} of the path or of the environment variable {@code NATS_SERVER}
 * in separate processes, with file storage in temporary directories. One thread.
 */
final class NatsServer implements AutoCloseable {
    static final String INSTALL = "go install github.com/nats-io/nats-server/v2@v2.15.2";

    private static final int START_TIMEOUT_S = 30;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
    private static final String PROGRAM = "nats-server";
    /** Messages that the client buffers before a publisher waits. */
    private static final int OUTGOING_MESSAGES = 50_000;

    private final PubSubSettings settings;
    private final boolean jetStream;
    /** Empty if the server is running. */
    private final List<Node> nodes = new ArrayList<>();

    /** A server that this program starts. {@code process} has its own directory. */
    private record Node(String name, int port, int clusterPort, ChildProcess process) {
        String address() {
            return "localhost:" + port;
        }

        Path dataDirectory() {
            return process.directory().resolve("data");
        }
    }

    NatsServer(PubSubSettings settings, boolean jetStream) {
        this.settings = settings;
        this.jetStream = jetStream;
    }

    /** The number of servers. */
    int size() {
        return settings.cluster().brokers();
    }

    /** The command that installs the server, if it is needed and missing. */
    Optional<String> missing() {
        return settings.isExternal() || program().isPresent() ? Optional.empty() : Optional.of(INSTALL);
    }

    private static Optional<Path> program() {
        String chosen = System.getenv("NATS_SERVER");
        if (chosen != null) {
            return Optional.of(Path.of(chosen)).filter(Files::isExecutable);
        }
        String path = System.getenv().getOrDefault("PATH", "");
        for (String directory : path.split(File.pathSeparator, -1)) {
            Path candidate = Path.of(directory, PROGRAM);
            if (Files.isExecutable(candidate)) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    Map<String, String> about() {
        Map<String, String> about = new TreeMap<>();
        about.put("broker", settings.isExternal() ? "nats-server as found" : version());
        about.put("client", "jnats " + clientVersion());
        about.put("broker_settings", configuration().toString());
        return about;
    }

    /** Reads the version from the name of the jar, because its manifest has none. */
    private static String clientVersion() {
        String jar =
                Nats.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        return jar.substring(jar.lastIndexOf('/') + 1).replace("jnats-", "").replace(".jar", "");
    }

    private static String version() {
        try {
            Process asked = new ProcessBuilder(program().map(Path::toString).orElse(PROGRAM), "--version")
                    .redirectErrorStream(true)
                    .start();
            return new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return PROGRAM;
        }
    }

    void start() {
        if (!settings.isExternal()) {
            String program = program()
                    .map(Path::toString)
                    .orElseThrow(() -> new BenchException(PROGRAM + " is not installed", "install it: " + INSTALL));
            for (int id = 1; id <= size(); id++) {
                nodes.add(new Node("n" + id, LoopbackPorts.next(), LoopbackPorts.next(), new ChildProcess("nats")));
            }
            for (Node node : nodes) {
                node.process()
                        .launch(List.of(
                                program, "--config", writeConfiguration(node).toString()));
            }
            for (Node node : nodes) {
                node.process().await(() -> responds(node.address()), START_TIMEOUT_S);
            }
        } else if (!responds(publishTarget(0))) {
            throw new BenchException(
                    "no NATS server responds at " + publishTarget(0), "start it, or leave --bootstrap out");
        }
    }

    private static boolean responds(String address) {
        try {
            NatsDriver.closed(connect(address, false));
            return true;
        } catch (BenchException notYet) {
            return false;
        }
    }

    private Map<String, String> configuration() {
        Map<String, String> lines = new TreeMap<>();
        // The server disconnects a subscriber that is further behind than this. The default is 64 MB.
        lines.put("max_pending", "268435456");
        if (settings.delivery() == Delivery.SYNCED) {
            lines.put("jetstream.sync_interval", "always");
        }
        lines.putAll(settings.brokerSettings());
        return lines;
    }

    private Path writeConfiguration(Node node) {
        StringBuilder top = new StringBuilder("listen: \"" + node.address() + "\"\n");
        if (settings.cluster().isCluster()) {
            top.append("server_name: " + node.name() + "\ncluster {\nname: bench\nlisten: \"localhost:"
                    + node.clusterPort() + "\"\nroutes: ["
                    + nodes.stream()
                            .map(one -> "\"nats://localhost:" + one.clusterPort() + "\"")
                            .collect(Collectors.joining(", "))
                    + "]\n}\n");
        }
        StringBuilder nested = new StringBuilder();
        configuration().forEach((name, value) -> {
            boolean inside = name.startsWith("jetstream.");
            (inside ? nested : top)
                    .append(inside ? name.substring("jetstream.".length()) : name)
                    .append(": ")
                    .append(value)
                    .append('\n');
        });
        if (jetStream) {
            top.append("jetstream {\nstore_dir: \"")
                    .append(node.dataDirectory())
                    .append("\"\n")
                    .append(nested)
                    .append("}\n");
        }
        try {
            return Files.writeString(node.process().directory().resolve("nats.conf"), top);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    List<BrokerNode> nodes() {
        if (settings.isExternal()) {
            return List.of(new BrokerNode(ProcessFinder.listeningAt(publishTarget(0)), null, null));
        }
        return nodes.stream()
                .map(node -> new BrokerNode(node.process().pid(), jetStream ? node.dataDirectory() : null, null))
                .toList();
    }

    void signal(String signal) {
        nodes.forEach(node -> node.process().signal(signal));
    }

    double restart(boolean kill) {
        if (nodes.isEmpty()) {
            throw new BenchException("this program did not start NATS and cannot restart it", "leave --bootstrap out");
        }
        return nodes.get(0).process().restart(kill);
    }

    void settle() {
        ChildProcess.settle(nodes.stream().map(Node::process).toList());
    }

    String publishTarget(int number) {
        return settings.isExternal()
                ? settings.publishTarget(number)
                : nodes.get(number % nodes.size()).address();
    }

    String subscribeTarget() {
        return settings.isExternal()
                ? settings.subscriberTarget()
                : nodes.get(0).address();
    }

    /** The address of the server with this name, if this program started it. */
    Optional<String> addressOf(String serverName) {
        return nodes.stream()
                .filter(node -> node.name().equals(serverName))
                .map(Node::address)
                .findFirst();
    }

    /** Opens a connection. */
    Connection connect(String target) {
        return connect(target, true);
    }

    private static Connection connect(String target, boolean reconnects) {
        Options options = Options.builder()
                .server("nats://" + target)
                .connectionTimeout(CONNECT_TIMEOUT)
                .maxMessagesInOutgoingQueue(OUTGOING_MESSAGES)
                .maxReconnects(reconnects ? -1 : 0)
                .errorListener(new io.nats.client.ErrorListener() {})
                .build();
        try {
            return Nats.connect(options);
        } catch (IOException e) {
            throw new BenchException("cannot connect to NATS at " + target, "check that it runs", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run the benchmark again", e);
        }
    }

    @Override
    public void close() {
        if (nodes.size() > 1) {
            // The last servers of a cluster would wait for the others before they stop.
            nodes.forEach(node -> node.process().kill());
        }
        nodes.forEach(node -> node.process().close());
        nodes.clear();
    }
}
