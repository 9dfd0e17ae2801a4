package io.journalq.chaos;

import io.journalq.server.process.BrokerProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A single broker in a process of its own, which can be frozen and killed. {@link #close} kills it, which also happens
 * when the program is interrupted. One thread, and the shutdown hook.
 */
final class BrokerUnderTest implements AutoCloseable {
    private static final long START_LIMIT_NANOS = TimeUnit.MINUTES.toNanos(10);
    private static final int CONNECT_TIMEOUT_MS = 1_000;
    private static final int POLL_MS = 20;
    private static final int DUMP_MS = 2_000;

    private final Path directory;
    private final int port;
    private final BrokerProcess process;
    private final Map<String, String> settings = new LinkedHashMap<>();
    private final Thread shutdownHook = new Thread(this::end, "kill-broker");
    private Runnable onEnding = () -> {};
    private boolean ended;

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
        this.process = new BrokerProcess(directory.resolve("broker.log"), heap, javaOptions);
        this.settings.put("listeners", "PLAINTEXT://" + address());
        this.settings.put("data.directories", dataDirectory().toString());
        this.settings.put("gateway.listener", "");
        settings.forEach(setting -> this.settings.put(
                setting.substring(0, setting.indexOf('=')), setting.substring(setting.indexOf('=') + 1)));
        Runtime.getRuntime().addShutdownHook(shutdownHook);
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
            throw new IOException("the broker does not start, see " + process.log());
        }
    }

    /**
     * Starts the broker and waits until it accepts connections.
     *
     * @return false if the process ended, or was killed because it took longer than {@link #START_LIMIT_NANOS}
     */
    boolean startsUp() throws IOException, InterruptedException {
        launch();
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

    private synchronized void launch() throws IOException {
        if (ended) {
            throw new IOException("the program ends");
        }
        process.start(settings);
    }

    private synchronized void end() {
        ended = true;
        process.close();
    }

    /** The current length of the broker's log file, in bytes. */
    long logEnd() {
        return process.logEnd();
    }

    /** What the broker has logged since its log file had the length {@code start}, as {@link #logEnd} returned it. */
    String logSince(long start) throws IOException {
        return process.logSince(start);
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
        return process.exitCode();
    }

    /** Sends SIGKILL and waits for the end of the process. */
    void kill() {
        onEnding.run();
        process.kill();
    }

    /** Sends SIGSTOP. */
    void freeze() {
        onEnding.run();
        process.freeze();
    }

    /** Sends SIGCONT. */
    void thaw() {
        process.thaw();
    }

    /** Makes the JVM write the stacks of its threads to the log, and waits {@link #DUMP_MS} ms for them. */
    void dumpStacks() throws InterruptedException {
        process.dumpStacks();
        Thread.sleep(DUMP_MS);
    }

    @Override
    public void close() {
        if (process.isAlive()) {
            kill();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException ending) {
            // The hook does the same.
        }
    }
}
