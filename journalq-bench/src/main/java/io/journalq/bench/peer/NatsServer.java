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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A NATS server: a running one, or the {@code nats-server} of the path or of the environment variable {@code NATS_SERVER}
 * in a separate process, with file storage in a temporary directory. One thread.
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
    private final int port = LoopbackPorts.next();
    private ChildProcess process;

    NatsServer(PubSubSettings settings, boolean jetStream) {
        this.settings = settings;
        this.jetStream = jetStream;
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
            process = new ChildProcess("nats");
            process.start(
                    List.of(program, "--config", writeConfiguration().toString()), this::responds, START_TIMEOUT_S);
        } else if (!responds()) {
            throw new BenchException(
                    "no NATS server responds at " + publishTarget(0), "start it, or leave --bootstrap out");
        }
    }

    private boolean responds() {
        try {
            NatsDriver.closed(connect(publishTarget(0), false));
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

    private Path writeConfiguration() {
        StringBuilder top = new StringBuilder("listen: \"localhost:" + port + "\"\n");
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
                    .append(dataDirectory())
                    .append("\"\n")
                    .append(nested)
                    .append("}\n");
        }
        try {
            return Files.writeString(process.directory().resolve("nats.conf"), top);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    List<BrokerNode> nodes() {
        return List.of(
                settings.isExternal()
                        ? new BrokerNode(ProcessFinder.listeningAt(publishTarget(0)), null, null)
                        : new BrokerNode(process.pid(), jetStream ? dataDirectory() : null, null));
    }

    private Path dataDirectory() {
        return process.directory().resolve("data");
    }

    void signal(String signal) {
        if (process != null) {
            process.signal(signal);
        }
    }

    double restart(boolean kill) {
        if (process == null) {
            throw new BenchException("this program did not start NATS and cannot restart it", "leave --bootstrap out");
        }
        return process.restart(kill);
    }

    void settle() {
        if (process != null) {
            process.settle();
        }
    }

    String publishTarget(int number) {
        return settings.isExternal() ? settings.publishTarget(number) : "localhost:" + port;
    }

    String subscribeTarget() {
        return settings.isExternal() ? settings.subscriberTarget() : "localhost:" + port;
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
        if (process != null) {
            process.close();
            process = null;
        }
    }
}
