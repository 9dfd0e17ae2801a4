package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.directory.LockHolder;
import io.journalq.server.memory.StatePart;
import io.journalq.server.process.BrokerCommand;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A broker in a separate process, with the default heap, that exits when it runs out of memory. */
final class FloodedBroker implements AutoCloseable {
    private static final String DEFAULT_HEAP = "512m";
    private static final int START_SECONDS = 60;
    private static final int CHECK_INTERVAL_MS = 50;

    private final HttpClient http = HttpClient.newHttpClient();
    private final Path log;
    private final Process process;
    private final int port;
    private final int adminPort;

    private FloodedBroker(Process process, Path log, int port, int adminPort) {
        this.process = process;
        this.log = log;
        this.port = port;
        this.adminPort = adminPort;
    }

    /**
     * Starts a broker and waits until it serves.
     *
     * @param directory for its data and its log
     * @param settings in addition to those that every test needs
     */
    static FloodedBroker start(Path directory, Map<String, String> settings) throws Exception {
        return start(directory, settings, List.of());
    }

    /**
     * As {@link #start(Path, Map)}, but with a heap that is resident from the start, and without the C2 compiler, which
     * takes up to 20 MB while it compiles. {@link #residentBytes} therefore changes by what the broker itself takes
     * outside of the heap.
     */
    static FloodedBroker startWithResidentHeap(Path directory, Map<String, String> settings) throws Exception {
        return start(directory, settings, List.of("-XX:+AlwaysPreTouch", "-XX:TieredStopAtLevel=1"));
    }

    private static FloodedBroker start(Path directory, Map<String, String> settings, List<String> jvmOptions)
            throws Exception {
        List<String> options = new ArrayList<>(jvmOptions);
        options.add("-XX:+ExitOnOutOfMemoryError");
        List<String> command = new ArrayList<>(BrokerCommand.inForeground(DEFAULT_HEAP, options));
        Path data = directory.resolve("data");
        Map<String, String> all = new HashMap<>(settings);
        all.putIfAbsent("listeners", "PLAINTEXT://127.0.0.1:0");
        all.put("admin.listener", "127.0.0.1:0");
        all.put("gateway.listener", "");
        all.put("data.directories", data.toString());
        all.forEach((name, value) -> command.addAll(List.of("--set", name + "=" + value)));
        Path log = directory.resolve("broker.log");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        Optional<LockHolder> serving = Optional.empty();
        while (serving.isEmpty()) {
            if (!process.isAlive() || System.nanoTime() > deadlineNanos) {
                process.destroyForcibly();
                throw new AssertionError("the broker does not start: " + Files.readString(log));
            }
            Thread.sleep(CHECK_INTERVAL_MS);
            serving = LockHolder.read(data)
                    .filter(holder -> holder.processId() == process.pid() && holder.address() != null);
        }
        return new FloodedBroker(
                process, log, port(serving.get().address()), port(serving.get().adminAddress()));
    }

    private static int port(String address) {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    int port() {
        return port;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Waits for the process to end, at most this long. */
    boolean awaitEnd(long millis) throws InterruptedException {
        return process.waitFor(millis, TimeUnit.MILLISECONDS);
    }

    /** Size of all objects that survive a full collection. */
    long liveHeapBytes() throws IOException, InterruptedException {
        return HeapUse.liveBytes(process.pid());
    }

    /** Memory of the process that is not swapped out. */
    long residentBytes() throws IOException {
        return Files.readAllLines(Path.of("/proc", String.valueOf(process.pid()), "status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1_024)
                .findFirst()
                .orElseThrow();
    }

    /** Used heap, from the metrics page. */
    static long heapBytes(Map<String, Double> metrics) {
        return (long) metrics.entrySet().stream()
                .filter(sample -> sample.getKey().startsWith("jvm_memory_used_bytes{area=\"heap\""))
                .mapToDouble(Map.Entry::getValue)
                .sum();
    }

    /** The charge of a part of the budget. */
    long chargedBytes(StatePart part) throws IOException, InterruptedException {
        return metrics()
                .get("journalq_state_memory_used_bytes{part=\"" + part.label() + "\"}")
                .longValue();
    }

    /** Every sample of the metrics page, by its name with labels. */
    Map<String, Double> metrics() throws IOException, InterruptedException {
        String page = http.send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + adminPort + "/metrics"))
                                .build(),
                        BodyHandlers.ofString())
                .body();
        Map<String, Double> samples = new HashMap<>();
        page.lines().filter(line -> !line.startsWith("#")).forEach(line -> {
            int end = line.lastIndexOf(' ');
            samples.put(line.substring(0, end), Double.parseDouble(line.substring(end + 1)));
        });
        return samples;
    }

    /** Asserts that the broker is alive, and that its log contains no lines that only a defect causes. */
    void assertHealthy(String during) throws IOException {
        String written = Files.readString(log);
        assertThat(process.isAlive())
                .as("the broker is alive after %s: %s", during, written)
                .isTrue();
        assertThat(written)
                .as("the log after %s", during)
                .doesNotContain("level=ERROR")
                .doesNotContain("OutOfMemoryError")
                .doesNotContain("Cannot reserve");
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
