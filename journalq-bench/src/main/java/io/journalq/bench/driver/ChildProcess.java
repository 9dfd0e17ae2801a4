package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import io.journalq.bench.measure.BrokerSampler;

/**
 * A child process with a directory of its own for data and log. Both are gone after {@link #close}, which also runs when
 * the program is interrupted. One thread, besides the shutdown hook.
 */
public final class ChildProcess implements AutoCloseable {
    private static final int STOP_TIMEOUT_S = 20;
    /** With thousands of partitions there is much to write before the end. */
    private static final int RESTART_STOP_TIMEOUT_S = 120;

    private static final long POLL_MS = 100;
    /** Less than what is measured of a start. */
    private static final long START_POLL_MS = 10;

    private static final int SETTLE_TIMEOUT_S = 30;
    /** What a broker without topics may keep on disk. */
    private static final long SETTLED_BYTES = 64 << 20;

    private final String name;
    private final Path directory;
    private final Thread shutdownHook = new Thread(this::stopAndRemove, "stop-broker");
    private Process process;
    private List<String> command;
    private BooleanSupplier ready;
    private int timeoutSeconds;

    public ChildProcess(String name) {
        this.name = name;
        try {
            directory = Files.createTempDirectory("journalq-bench-" + name + "-");
        } catch (IOException e) {
            throw new BenchException("cannot make a temporary directory", "set -Djava.io.tmpdir to one with room", e);
        }
        Runtime.getRuntime().addShutdownHook(shutdownHook);
    }

    /** For data, configuration and log; exists from the beginning. */
    public Path directory() {
        return directory;
    }

    public long pid() {
        return process == null ? 0 : process.pid();
    }

    /** Runs {@code command} to its end; its output goes to the log. */
    public void run(List<String> command, int timeoutSeconds) {
        try {
            Process step = launch(command);
            if (!step.waitFor(timeoutSeconds, TimeUnit.SECONDS)) {
                step.destroyForcibly();
                throw new BenchException(name + " took too long to prepare", "look whether the machine is overloaded");
            }
            if (step.exitValue() != 0) {
                throw diedBecause("cannot prepare");
            }
        } catch (IOException e) {
            throw new BenchException("cannot run " + command.get(0), "check that it is installed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run it again", e);
        }
    }

    /** Starts {@code command}, and waits until {@code ready} says so. */
    public void start(List<String> command, BooleanSupplier ready, int timeoutSeconds) {
        this.command = command;
        this.ready = ready;
        this.timeoutSeconds = timeoutSeconds;
        start();
    }

    private void start() {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        try {
            process = launch(command);
            while (!ready.getAsBoolean()) {
                if (!process.isAlive()) {
                    throw diedBecause("cannot start");
                }
                if (System.nanoTime() > deadlineNs) {
                    throw diedBecause("did not answer within " + timeoutSeconds + " s:");
                }
                Thread.sleep(START_POLL_MS);
            }
        } catch (IOException e) {
            throw new BenchException("cannot run " + command.get(0), "check that it is installed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run it again", e);
        }
    }

    /** Ends the process and starts it again; returns seconds from the start of the new one until it was ready. */
    public double restart(boolean kill) {
        signal(kill ? "KILL" : "TERM");
        try {
            if (!process.waitFor(RESTART_STOP_TIMEOUT_S, TimeUnit.SECONDS)) {
                throw new BenchException("broker " + name + " does not stop", "look at its log");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run it again", e);
        }
        long startNs = System.nanoTime();
        start();
        return (System.nanoTime() - startNs) / 1e9;
    }

    private Process launch(List<String> command) throws IOException {
        return new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
                .start();
    }

    private Path log() {
        return directory.resolve("broker.log");
    }

    private BenchException diedBecause(String what) {
        String lastWords = "it left no log";
        try (Stream<String> lines = Files.lines(log())) {
            lastWords = lines.filter(line -> !line.isBlank())
                    .filter(line -> !line.startsWith("\tat "))
                    .reduce((earlier, later) -> later)
                    .orElse(lastWords);
        } catch (IOException | UncheckedIOException e) {
            // Said above: no log.
        }
        return new BenchException("broker " + name + " " + what + " " + lastWords, "mend that and run it again");
    }

    /** See {@link BrokerDriver#settle}; goes on after a while in any case. */
    public void settle() {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_TIMEOUT_S);
        try {
            while (BrokerSampler.allocatedBytes(directory) > SETTLED_BYTES && System.nanoTime() < deadlineNs) {
                Thread.sleep(POLL_MS);
            }
        } catch (IOException e) {
            throw new BenchException("cannot run du", "install it (coreutils)", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        writeBack();
    }

    /** See {@link BrokerDriver#writeBack}. */
    public void writeBack() {
        try {
            new ProcessBuilder("sync").start().waitFor();
        } catch (IOException e) {
            throw new BenchException("cannot run sync", "install it (coreutils)", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public void signal(String signal) {
        if (process == null) {
            return;
        }
        try {
            new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new BenchException("cannot signal broker " + name, "install the kill command", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A port that was free a moment ago. */
    public static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new BenchException("no free port on loopback", "check the machine's network", e);
        }
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException e) {
            return; // Shutting down: the hook does it.
        }
        stopAndRemove();
    }

    private void stopAndRemove() {
        if (process != null && process.isAlive()) {
            signal("CONT"); // A frozen process would not hear the next signal.
            process.destroy();
            try {
                if (!process.waitFor(STOP_TIMEOUT_S, TimeUnit.SECONDS)) {
                    process.destroyForcibly().waitFor();
                }
            } catch (InterruptedException e) {
                process.destroyForcibly();
                Thread.currentThread().interrupt();
            }
        }
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException | UncheckedIOException e) {
            System.err.println("journalq-bench: cannot remove " + directory + "; remove it by hand");
        }
    }
}
