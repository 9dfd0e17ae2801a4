package io.journalq.chaos;

import io.journalq.server.broker.BrokerCommand;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A broker in a process of its own, which can be frozen and killed. One thread. */
final class BrokerUnderTest implements AutoCloseable {
    private static final long START_LIMIT_NANOS = TimeUnit.MINUTES.toNanos(10);
    private static final int STOP_LIMIT_SECONDS = 60;
    private static final int CONNECT_TIMEOUT_MS = 1_000;
    private static final int POLL_MS = 20;
    private static final int DUMP_MS = 2_000;

    private final Path directory;
    private final int port;
    private final String heap;
    private final List<String> javaOptions;
    private final List<String> settings;
    private Process process;
    private Runnable onEnding = () -> {};

    /**
     * Describes a broker; {@link #start} starts it.
     *
     * @param heap heap size of its JVM, as in {@code -Xmx}
     * @param javaOptions JVM options to add to those of the start script
     * @param settings broker settings as {@code key=value}
     */
    BrokerUnderTest(Path directory, int port, String heap, List<String> javaOptions, List<String> settings) {
        this.directory = directory;
        this.port = port;
        this.heap = heap;
        this.javaOptions = javaOptions;
        this.settings = settings;
    }

    /** A TCP port that no process listens on. */
    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    long pid() {
        return process.pid();
    }

    String address() {
        return "127.0.0.1:" + port;
    }

    /** Starts the broker and waits until it accepts connections. */
    void start() throws IOException, InterruptedException {
        if (!startsUp()) {
            throw new IOException("the broker does not start, see " + log());
        }
    }

    /**
     * Starts the broker and waits until it accepts connections.
     *
     * @return false if the process ended, or was killed because it took longer than {@link #START_LIMIT_NANOS}
     */
    boolean startsUp() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(BrokerCommand.inForeground(heap, javaOptions));
        List<String> all = new ArrayList<>(List.of(
                "listeners=PLAINTEXT://" + address(), "data.directories=" + dataDirectory(), "gateway.listener="));
        all.addAll(settings);
        all.forEach(setting -> command.addAll(List.of("--set", setting)));
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log()))
                .start();
        long deadlineNanos = System.nanoTime() + START_LIMIT_NANOS;
        while (!accepts()) {
            if (!process.isAlive()) {
                return false;
            }
            if (System.nanoTime() > deadlineNanos) {
                kill();
                return false;
            }
            Thread.sleep(POLL_MS);
        }
        return true;
    }

    private File log() {
        return directory.resolve("broker.log").toFile();
    }

    /** The current length of the broker's log file, in bytes. */
    long logEnd() {
        return log().length();
    }

    /** What the broker has logged since its log file had the length {@code start}, as {@link #logEnd} returned it. */
    String logSince(long start) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(log(), "r")) {
            byte[] bytes = new byte[(int) (file.length() - start)];
            file.seek(start);
            file.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    /** The broker's data directory. */
    Path dataDirectory() {
        return directory.resolve("data");
    }

    private boolean accepts() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_TIMEOUT_MS);
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }

    /** Runs {@code work} right before each freeze and kill, and in each {@link #losesDirectory}. */
    void onEnding(Runnable work) {
        onEnding = work;
    }

    /**
     * Records that the data directory was moved away, or has gone offline. As at a kill, the broker loses what it holds
     * only in memory.
     */
    void losesDirectory() {
        onEnding.run();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Exit code of the process, which must have ended. */
    int exitCode() {
        return process.exitValue();
    }

    /** Sends SIGKILL and waits for the end of the process. */
    void kill() {
        onEnding.run();
        process.destroyForcibly();
        try {
            if (!process.waitFor(STOP_LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException(
                        "the broker is still running " + STOP_LIMIT_SECONDS + " s after SIGKILL");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends SIGSTOP. */
    void freeze() {
        onEnding.run();
        signal("STOP");
    }

    /** Sends SIGCONT. */
    void thaw() {
        signal("CONT");
    }

    /** Makes the JVM write the stacks of its threads to the log, and waits {@link #DUMP_MS} ms for them. */
    void dumpStacks() throws InterruptedException {
        signal("QUIT");
        Thread.sleep(DUMP_MS);
    }

    private void signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        if (process != null && process.isAlive()) {
            kill();
        }
    }
}
