package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.BrokerSampler;
import io.journalq.server.journal.wal.WriteAheadLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A child process with its own directory for data and log. {@link #close} ends the process and deletes the directory; it
 * also runs when the program is interrupted. Used by one thread, and by the shutdown hook.
 */
public final class ChildProcess implements AutoCloseable {
    private static final int STOP_TIMEOUT_S = 20;
    /** A broker with thousands of partitions writes for a long time before it ends. */
    private static final int RESTART_STOP_TIMEOUT_S = 120;

    private static final long POLL_MS = 100;
    /** Short compared with the measured duration of a start. */
    private static final long START_POLL_MS = 10;

    private static final int SETTLE_TIMEOUT_S = 30;
    /** The disk space that a broker without topics may use, apart from its write-ahead files. */
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
            throw new BenchException(
                    "cannot create a temporary directory", "set -Djava.io.tmpdir to a directory with free space", e);
        }
        Runtime.getRuntime().addShutdownHook(shutdownHook);
    }

    /** The directory for data, configuration and log. It exists from the start. */
    public Path directory() {
        return directory;
    }

    public long pid() {
        return process == null ? 0 : process.pid();
    }

    /** Runs a command and waits until it ends. Its output goes to the log. */
    public void run(List<String> command, int timeoutSeconds) {
        try {
            Process step = spawn(command);
            if (!step.waitFor(timeoutSeconds, TimeUnit.SECONDS)) {
                step.destroyForcibly();
                throw new BenchException(name + " took too long to prepare", "check whether the machine is overloaded");
            }
            if (step.exitValue() != 0) {
                throw diedBecause("cannot prepare");
            }
        } catch (IOException e) {
            throw new BenchException("cannot run " + command.get(0), "check that it is installed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run the benchmark again", e);
        }
    }

    /** Starts {@code command}, and waits until {@code ready} returns true. */
    public void start(List<String> command, BooleanSupplier ready, int timeoutSeconds) {
        launch(command);
        await(ready, timeoutSeconds);
    }

    /** Starts {@code command}. {@link #await} waits until it is ready. */
    public void launch(List<String> command) {
        this.command = command;
        launch();
    }

    /** Starts the command of the last start again, after {@link #end}, and waits until it is ready. */
    public void startAgain() {
        launch();
        await(ready, timeoutSeconds);
    }

    private void launch() {
        try {
            process = spawn(command);
        } catch (IOException e) {
            throw new BenchException("cannot run " + command.get(0), "check that it is installed", e);
        }
    }

    /** Waits until {@code ready} returns true. Fails when the process ends before, or takes longer. */
    public void await(BooleanSupplier ready, int timeoutSeconds) {
        this.ready = ready;
        this.timeoutSeconds = timeoutSeconds;
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        try {
            while (!ready.getAsBoolean()) {
                if (!process.isAlive()) {
                    throw diedBecause("cannot start");
                }
                if (System.nanoTime() > deadlineNs) {
                    throw diedBecause("did not respond within " + timeoutSeconds + " s:");
                }
                Thread.sleep(START_POLL_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run the benchmark again", e);
        }
    }

    /** Ends the process and starts it again; returns the seconds from the start of the new process until it was ready. */
    public double restart(boolean kill) {
        end(kill);
        long startNs = System.nanoTime();
        startAgain();
        return (System.nanoTime() - startNs) / 1e9;
    }

    /** Stops the process, or kills it, and waits for its end. */
    public void end(boolean kill) {
        signal(kill ? "KILL" : "TERM");
        try {
            if (!process.waitFor(RESTART_STOP_TIMEOUT_S, TimeUnit.SECONDS)) {
                throw new BenchException("broker " + name + " does not stop", "check its log");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run the benchmark again", e);
        }
    }

    private Process spawn(List<String> command) throws IOException {
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
                    .filter(line -> !line.startsWith("\t"))
                    .reduce((earlier, later) -> later)
                    .orElse(lastWords);
        } catch (IOException | UncheckedIOException e) {
            // The message says that there is no log.
        }
        return new BenchException(
                "broker " + name + " " + what + " " + lastWords, "fix that and run the benchmark again");
    }

    /** See {@link BrokerDriver#settle}. Gives up after {@value #SETTLE_TIMEOUT_S} s. */
    public void settle() {
        settle(List.of(this));
    }

    /** As {@link #settle()}, for several processes of one broker together. */
    public static void settle(List<ChildProcess> all) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_TIMEOUT_S);
        try {
            for (ChildProcess one : all) {
                while (!isSettled(one.directory) && System.nanoTime() < deadlineNs) {
                    Thread.sleep(POLL_MS);
                }
            }
        } catch (IOException e) {
            throw new BenchException("cannot run du", "install it (coreutils)", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        sync();
    }

    /** Whether no files of topics are left. JournalQ keeps its write-ahead files, and uses them again. */
    static boolean isSettled(Path directory) throws IOException {
        return BrokerSampler.allocatedBytes(directory, WriteAheadLog.DIRECTORY_NAME) <= SETTLED_BYTES;
    }

    /** See {@link BrokerDriver#writeBack}. */
    public void writeBack() {
        sync();
    }

    private static void sync() {
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

    /** Kills the process if it runs, for {@link #close} not to wait. */
    public void kill() {
        if (process != null) {
            process.destroyForcibly();
        }
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException e) {
            return; // The program is ending: the hook does this.
        }
        stopAndRemove();
    }

    private void stopAndRemove() {
        if (process != null && process.isAlive()) {
            signal("CONT"); // A frozen process would not handle the next signal.
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
            System.err.println("journalq-bench: cannot delete " + directory + "; delete it by hand");
        }
    }
}
