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

/** A broker in a process of its own. One thread. */
final class BrokerUnderTest implements AutoCloseable {
    private static final long START_LIMIT_NANOS = TimeUnit.MINUTES.toNanos(10);
    private static final int STOP_LIMIT_SECONDS = 60;
    private static final int CONNECT_TIMEOUT_MS = 1_000;
    private static final int POLL_MS = 20;
    private static final int DUMP_MS = 2_000;

    private final Path folder;
    private final int port;
    private final String heap;
    private final List<String> javaOptions;
    private final List<String> settings;
    private Process process;
    private Runnable onEnding = () -> {};

    /**
     * Not started yet.
     *
     * @param heap of its Java machine, as Java's options have sizes
     * @param javaOptions what differs from those of the scripts
     * @param settings as {@code key=value}
     */
    BrokerUnderTest(Path folder, int port, String heap, List<String> javaOptions, List<String> settings) {
        this.folder = folder;
        this.port = port;
        this.heap = heap;
        this.javaOptions = javaOptions;
        this.settings = settings;
    }

    /** One that nobody listens on. */
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

    /** Starts it and waits until it accepts connections. */
    void start() throws IOException, InterruptedException {
        if (!startsUp()) {
            throw new IOException("the broker does not start; see " + log());
        }
    }

    /** Starts it; whether it accepts connections. Otherwise it has ended by itself, or was killed because it took too long. */
    boolean startsUp() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(BrokerCommand.inForeground(heap, javaOptions));
        command.addAll(
                List.of("--set", "listeners=PLAINTEXT://" + address(), "--set", "data.directories=" + dataDirectory()));
        settings.forEach(setting -> command.addAll(List.of("--set", setting)));
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
        return folder.resolve("broker.log").toFile();
    }

    /** Where the broker's log ends now. */
    long logEnd() {
        return log().length();
    }

    /** What the broker has logged since {@code start}, an earlier end of its log. */
    String logSince(long start) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(log(), "r")) {
            byte[] bytes = new byte[(int) (file.length() - start)];
            file.seek(start);
            file.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    /** Where its data are. */
    Path dataDirectory() {
        return folder.resolve("data");
    }

    private boolean accepts() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_TIMEOUT_MS);
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }

    /** Has {@code work} run right before each freeze and each kill, and when {@link #losesDirectory}. */
    void onEnding(Runnable work) {
        onEnding = work;
    }

    /** Its data directory is lost, or offline since: what it has only in memory meanwhile is lost as by a kill. */
    void losesDirectory() {
        onEnding.run();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Of a process that has ended. */
    int exitCode() {
        return process.exitValue();
    }

    /** SIGKILL: nothing of it runs any more when this returns. */
    void kill() {
        onEnding.run();
        process.destroyForcibly();
        try {
            if (!process.waitFor(STOP_LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("a killed process does not end");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** SIGSTOP. */
    void freeze() {
        onEnding.run();
        signal("STOP");
    }

    /** SIGCONT. */
    void thaw() {
        signal("CONT");
    }

    /** Has the Java machine write the stacks of its threads to the log, where they are when this returns. */
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
