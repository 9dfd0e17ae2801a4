package io.journalq.server.process;

import io.journalq.server.directory.LockHolder;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One broker in a process of its own, which can be started again, frozen and killed. Used by one thread at a time; any
 * thread may close it.
 */
public final class BrokerProcess implements AutoCloseable {
    private static final int KILL_LIMIT_SECONDS = 60;

    private final Path log;
    private final String heap;
    private final List<String> javaOptions;
    private volatile Process process;

    /**
     * Describes a broker; {@link #start} starts it.
     *
     * @param log file to which its output is appended
     * @param heap heap size of its JVM, as in {@code -Xmx}
     * @param javaOptions JVM options in addition to those of the start script
     */
    public BrokerProcess(Path log, String heap, List<String> javaOptions) {
        this.log = log;
        this.heap = heap;
        this.javaOptions = List.copyOf(javaOptions);
    }

    /**
     * Starts the process, and does not wait until it serves.
     *
     * @param settings settings of the broker, by name
     * @throws IOException if the process cannot be created
     */
    public void start(Map<String, String> settings) throws IOException {
        List<String> command = new ArrayList<>(BrokerCommand.inForeground(heap, javaOptions));
        settings.forEach((name, value) -> command.addAll(List.of("--set", name + "=" + value)));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().put("JOURNALQ_LOG_LEVEL", "INFO");
        process = builder.start();
    }

    /** Whether the process serves clients. It says so in the lock file of {@code dataDirectory}. */
    public boolean isServing(Path dataDirectory) {
        return isAlive()
                && LockHolder.read(dataDirectory)
                        .filter(holder -> holder.processId() == process.pid() && holder.address() != null)
                        .isPresent();
    }

    /** Whether the process has been started and has not ended. A frozen process is alive. */
    public boolean isAlive() {
        return process != null && process.isAlive();
    }

    /** Exit code of the process, which must have ended. */
    public int exitCode() {
        return process.exitValue();
    }

    /** Id of the process, which must have been started. */
    public long pid() {
        return process.pid();
    }

    /**
     * Sends SIGKILL and waits for the end of the process. Does nothing if it has ended.
     *
     * @throws IllegalStateException if the process does not end within 60 s
     */
    public void kill() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(KILL_LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException(
                        "the broker is still running " + KILL_LIMIT_SECONDS + " s after SIGKILL: " + process);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends SIGTERM. Returns whether the process has ended within {@code seconds}. */
    public boolean stop(int seconds) throws InterruptedException {
        process.destroy();
        return process.waitFor(seconds, TimeUnit.SECONDS);
    }

    /** Sends SIGSTOP. */
    public void freeze() {
        signal("STOP");
    }

    /** Sends SIGCONT. */
    public void thaw() {
        signal("CONT");
    }

    /** Sends SIGQUIT, so that the JVM writes the stacks of its threads to the log. */
    public void dumpStacks() {
        signal("QUIT");
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

    /** The file with the output of the process. */
    public Path log() {
        return log;
    }

    /** The current length of the log, in bytes; 0 if there is none. */
    public long logEnd() {
        return log.toFile().length();
    }

    /** What has been logged since the log had the length {@code start}, as {@link #logEnd} returned it. */
    public String logSince(long start) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
            byte[] bytes = new byte[(int) (file.length() - start)];
            file.seek(start);
            file.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    /** Kills the process if it runs. */
    @Override
    public void close() {
        if (isAlive()) {
            kill();
        }
    }
}
