package io.journalq.smoke.connect;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.connect.cli.ConnectStandalone;

/**
 * A standalone worker of Kafka Connect copies lines from a file through the broker at {@code $JOURNALQ_BOOTSTRAP} to
 * another file. It is stopped and started in the middle and goes on where it was: each line arrives once and in order.
 */
public final class Main {
    private static final int LINES_PER_RUN = 2_000;
    private static final int RUNS = 3;
    private static final long LIMIT_SECONDS = 300;

    /** How long a process that hangs may take to say what its threads do. */
    private static final long DUMP_SECONDS = 5;

    private final String topic = "connect-" + System.currentTimeMillis();
    private final Path directory;
    private final Path source;
    private final Path sink;

    private Main(Path directory) {
        this.directory = directory;
        this.source = directory.resolve("source.txt");
        this.sink = directory.resolve("sink.txt");
    }

    public static void main(String[] arguments) throws Exception {
        Path directory = Files.createTempDirectory("journalq-connect");
        try {
            new Main(directory).run();
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private void run() throws Exception {
        List<String> lines = new ArrayList<>();
        for (int run = 0; run < RUNS; run++) {
            // Half of the lines come while the worker is away, the other half while it runs.
            append(lines, LINES_PER_RUN / 2);
            Process worker = start();
            Thread orphaned = new Thread(worker::destroyForcibly);
            Runtime.getRuntime().addShutdownHook(orphaned);
            try {
                await(worker, lines);
                append(lines, LINES_PER_RUN / 2);
                await(worker, lines);
            } finally {
                worker.destroy();
                if (!worker.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                    String log = logWithThreads(worker);
                    worker.destroyForcibly();
                    throw new IllegalStateException("the worker does not stop:\n" + log);
                }
            }
            Runtime.getRuntime().removeShutdownHook(orphaned);
            check(lines);
        }
        System.out.println("Kafka Connect: " + lines.size() + " lines copied from file to file, each once and in order, by a"
                + " worker that was started " + RUNS + " times");
    }

    private void append(List<String> lines, int count) throws IOException {
        List<String> more = IntStream.range(lines.size(), lines.size() + count)
                .mapToObj(number -> "line " + number)
                .toList();
        Files.write(source, more, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        lines.addAll(more);
    }

    private Process start() throws IOException {
        Path worker = properties(
                "worker",
                "bootstrap.servers", System.getenv("JOURNALQ_BOOTSTRAP"),
                "key.converter", "org.apache.kafka.connect.storage.StringConverter",
                "value.converter", "org.apache.kafka.connect.storage.StringConverter",
                "offset.storage.file.filename", directory.resolve("offsets").toString(),
                "offset.flush.interval.ms", "1000",
                "listeners", "HTTP://localhost:0");
        Path from = properties(
                "from",
                "name", topic + "-source",
                "connector.class", "org.apache.kafka.connect.file.FileStreamSourceConnector",
                "tasks.max", "1",
                "file", source.toString(),
                "topic", topic);
        Path to = properties(
                "to",
                "name", topic + "-sink",
                "connector.class", "org.apache.kafka.connect.file.FileStreamSinkConnector",
                "tasks.max", "1",
                "file", sink.toString(),
                "topics", topic);
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ConnectStandalone.class.getName(),
                        worker.toString(),
                        from.toString(),
                        to.toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve("worker.log").toFile()))
                .start();
    }

    private Path properties(String name, String... keysAndValues) throws IOException {
        Properties properties = new Properties();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            properties.setProperty(keysAndValues[i], keysAndValues[i + 1]);
        }
        Path file = directory.resolve(name + ".properties");
        try (var out = Files.newOutputStream(file)) {
            properties.store(out, null);
        }
        return file;
    }

    private void await(Process worker, List<String> lines) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (written().size() < lines.size()) {
            if (!worker.isAlive() || System.nanoTime() - deadline > 0) {
                String state = (worker.isAlive() ? "hangs" : "ended") + " at " + written().size();
                throw new IllegalStateException(
                        "the worker " + state + " of " + lines.size() + " lines:\n" + logWithThreads(worker));
            }
            Thread.sleep(100);
        }
    }

    /** What the worker wrote, with what its threads do now. */
    private String logWithThreads(Process worker) throws Exception {
        Process quit = new ProcessBuilder("kill", "-QUIT", String.valueOf(worker.pid())).start();
        quit.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        Thread.sleep(TimeUnit.SECONDS.toMillis(DUMP_SECONDS));
        return Files.readString(directory.resolve("worker.log"));
    }

    private List<String> written() throws IOException {
        return Files.exists(sink) ? Files.readAllLines(sink) : List.of();
    }

    private void check(List<String> lines) throws IOException {
        List<String> written = written();
        if (!written.equals(lines)) {
            throw new IllegalStateException(lines.size() + " lines went in, " + written.size() + " came out");
        }
    }
}
