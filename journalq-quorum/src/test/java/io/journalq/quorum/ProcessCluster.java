package io.journalq.quorum;

import io.journalq.server.broker.BrokerCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;

/** Brokers of a cluster, each in a process of its own. The first one founds the cluster. */
final class ProcessCluster implements AutoCloseable {
    private static final int STOP_SECONDS = 60;
    private static final int WAIT_SECONDS = 60;

    private final Path directory;
    private final Map<Integer, Integer> ports = new TreeMap<>();
    private final Map<Integer, Integer> quorumPorts = new TreeMap<>();
    private final Map<Integer, Process> processes = new TreeMap<>();

    ProcessCluster(Path directory) {
        this.directory = directory;
    }

    /** Starts the process of a broker. */
    void start(int id) throws IOException {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("node.id", Integer.toString(id));
        settings.put("listeners", "PLAINTEXT://" + address(id));
        settings.put("admin.listener", "");
        settings.put("gateway.listener", "");
        settings.put("replica.lag.time.max.ms", "3000");
        settings.put("data.directories", data(id).toString());
        settings.put("quorum.listener", "127.0.0.1:" + quorumPorts.computeIfAbsent(id, unused -> TestPorts.next()));
        settings.put("cluster.join", ports.keySet().iterator().next() == id ? "" : firstAddress());
        List<String> command = new ArrayList<>(
                BrokerCommand.inForeground("256m", List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")));
        settings.forEach((name, value) -> {
            command.add("--set");
            command.add(name + "=" + value);
        });
        Files.createDirectories(directory);
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log(id).toFile()));
        builder.environment().put("JOURNALQ_LOG_LEVEL", "INFO");
        processes.put(id, builder.start());
    }

    /** Starts brokers one after the other, each when the others know those before it. */
    void startAll(int brokers) throws Exception {
        for (int id = 1; id <= brokers; id++) {
            start(id);
            int expected = id;
            await("broker " + id, () -> {
                try (Admin admin = admin()) {
                    return admin.describeCluster()
                                    .nodes()
                                    .get(5, TimeUnit.SECONDS)
                                    .size()
                            == expected;
                }
            });
        }
    }

    /** A client for the brokers that are started. */
    Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", bootstrapServers(), "request.timeout.ms", "3000"));
    }

    /** Something that becomes true, and may fail until then. */
    interface Condition {
        boolean holds() throws Exception;
    }

    static void await(String what, Condition condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (true) {
            boolean holds = false;
            Exception failure = null;
            try {
                holds = condition.holds();
            } catch (Exception notYet) {
                failure = notYet;
            }
            if (holds) {
                return;
            }
            if (System.nanoTime() > deadline) {
                throw new AssertionError("waited too long for " + what, failure);
            }
            Thread.sleep(100);
        }
    }

    Path data(int id) {
        return directory.resolve("broker" + id);
    }

    /** What a broker has logged. */
    Path log(int id) {
        return directory.resolve("broker" + id + ".log");
    }

    private String address(int id) {
        return "127.0.0.1:" + ports.computeIfAbsent(id, unused -> TestPorts.next());
    }

    private String firstAddress() {
        return address(ports.keySet().iterator().next());
    }

    /** The addresses of all brokers. */
    String bootstrapServers() {
        List<String> addresses = new ArrayList<>();
        ports.keySet().forEach(id -> addresses.add(address(id)));
        return String.join(",", addresses);
    }

    boolean isAlive(int id) {
        return processes.get(id).isAlive();
    }

    /** Kills a process at once (SIGKILL). */
    void kill(int id) throws InterruptedException {
        processes.get(id).destroyForcibly().waitFor();
    }

    /** Tells a process to stop (SIGTERM); returns whether it has stopped in time. */
    boolean stop(int id, int seconds) throws InterruptedException {
        processes.get(id).destroy();
        return processes.get(id).waitFor(seconds, TimeUnit.SECONDS);
    }

    /** Freezes a process. */
    void freeze(int id) throws Exception {
        signal("-STOP", id);
    }

    /** Lets a frozen process go on. */
    void thaw(int id) throws Exception {
        signal("-CONT", id);
    }

    private void signal(String signal, int id) throws Exception {
        new ProcessBuilder("kill", signal, Long.toString(processes.get(id).pid()))
                .start()
                .waitFor();
    }

    @Override
    public void close() {
        processes.values().forEach(Process::destroyForcibly);
        for (Process process : processes.values()) {
            try {
                if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                    throw new UncheckedIOException(new IOException("a broker does not end: " + process));
                }
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
