package io.journalq.cli.local;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.ExitCode;
import io.journalq.cli.shell.Quantity;
import io.journalq.common.commandline.DurationOption;
import io.journalq.server.directory.LockHolder;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code journalq-server start}: starts the broker in a separate process and waits until it is ready. Clients can use
 * the broker afterwards, and errors appear here and not only in a log.
 */
@Command(
        name = "start",
        description = "Starts a broker and waits until it is ready.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq-server start",
            "  journalq-server start --insecure --set listeners=PLAINTEXT://0.0.0.0:9092",
            "  JOURNALQ_HEAP=2g journalq-server start --config /etc/journalq/journalq.yaml",
            "  journalq-server start --foreground"
        })
public final class StartCommand extends LocalCommand {
    private static final int CHECK_INTERVAL_MS = 50;
    /** How long a killed or stopping process, which no longer responds, may keep its data directory locked. */
    private static final Duration LEAVING_LIMIT = Duration.ofSeconds(15);

    private static final int SHOWN_LOG_LINES = 15;
    private static final String LOG_FILE = "journalq-server.log";
    private static final String OUTPUT_FILE = "journalq-server.out";

    @Option(
            names = "--foreground",
            description = "Runs the broker in this process, with its log on this terminal, until it is stopped.")
    private boolean foreground;

    @Option(
            names = "--insecure",
            description = "Allows listeners that other machines can reach without a login or a certificate"
                    + " (allow.insecure.listeners).")
    private boolean insecure;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            defaultValue = "60s",
            converter = DurationOption.class,
            description = "How long to wait until the broker is ready (default: 60s). After that, it continues to run.")
    private Duration timeout;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (foreground) {
            // The script handles this option. Only the script can pass the Java options to the broker.
            throw new CommandFailure("start --foreground requires the script bin/journalq-server; run that script");
        }
        LocalBroker broker = broker();
        awaitFree(broker);
        if (broker.somebodyListens()) {
            throw new CommandFailure("another program is listening at " + broker.address()
                    + "; stop it, or choose another port with --set listeners=PLAINTEXT://localhost:PORT");
        }
        new SystemFileStore().createDurableDirectories(broker.dataDirectory());
        Path logDirectory = logDirectory();
        // The log of the broker does not contain the output of Java itself, for example if it cannot start.
        Path output = logDirectory.resolve(OUTPUT_FILE);
        Files.deleteIfExists(output);
        List<LogTail> tails = List.of(new LogTail(output), new LogTail(logDirectory.resolve(LOG_FILE)));
        Process process = launch(logDirectory, output);
        try (StartGuard guard = new StartGuard(process)) {
            awaitReady(broker, guard, tails, logDirectory.resolve(LOG_FILE));
        }
        return ExitCode.DONE;
    }

    /**
     * The system needs a moment to clean up a killed process. Until then, its sockets and its lock appear to be in use.
     */
    private void awaitFree(LocalBroker broker) throws InterruptedException {
        long startNs = System.nanoTime();
        Optional<LockHolder> holder = broker.holder();
        while (holder.isPresent()) {
            Duration waited = Duration.ofNanos(System.nanoTime() - startNs);
            if (broker.as(holder.get()).ready() || waited.compareTo(LEAVING_LIMIT) >= 0) {
                terminal().endProgress();
                throw new CommandFailure("a broker is already running with " + broker.dataDirectory() + " ("
                        + holder.get().describe() + "); stop it with bin/journalq-server stop");
            }
            terminal()
                    .showProgress("waiting for " + holder.get().describe() + " to release " + broker.dataDirectory()
                            + ", " + Quantity.duration(waited) + " ...");
            Thread.sleep(CHECK_INTERVAL_MS);
            holder = broker.holder();
        }
        terminal().endProgress();
    }

    /** The directory for the log and output of the broker. */
    private Path logDirectory() throws IOException {
        String chosen = System.getenv("JOURNALQ_LOG_DIR");
        Path directory = home().resolve(chosen == null || chosen.isEmpty() ? "logs" : chosen);
        try {
            Files.createDirectories(directory);
        } catch (IOException denied) {
            throw new CommandFailure("cannot create the log directory " + directory
                    + "; set another one with JOURNALQ_LOG_DIR in the environment");
        }
        return directory.toAbsolutePath().normalize();
    }

    /** Runs the script again in the foreground of a new session, which outlives this terminal. */
    private Process launch(Path logDirectory, Path output) throws IOException {
        List<String> command = new ArrayList<>();
        if (onPath("setsid")) {
            command.add("setsid");
        } else {
            command.add("nohup");
        }
        command.add(home().resolve("bin").resolve("journalq-server").toString());
        command.addAll(List.of("start", "--foreground"));
        if (configFile() != null) {
            command.addAll(List.of("--config", configFile().toString()));
        }
        for (String override : overrides()) {
            command.addAll(List.of("--set", override));
        }
        if (insecure) {
            command.add("--insecure");
        }
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("JOURNALQ_LOG_DIR", logDirectory.toString());
        builder.environment()
                .putIfAbsent(
                        "JOURNALQ_LOGBACK",
                        home().resolve("conf").resolve("logback-file.xml").toString());
        return builder.redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
                .redirectErrorStream(true)
                .start();
    }

    private static boolean onPath(String program) {
        for (String directory : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            if (Files.isExecutable(Path.of(directory, program))) {
                return true;
            }
        }
        return false;
    }

    private void awaitReady(LocalBroker wanted, StartGuard guard, List<LogTail> tails, Path log)
            throws IOException, InterruptedException {
        Process process = guard.process();
        long startNs = System.nanoTime();
        Optional<LocalBroker> broker = ready(wanted, process);
        while (broker.isEmpty()) {
            Duration waited = Duration.ofNanos(System.nanoTime() - startNs);
            if (guard.interrupted()) {
                throw new CommandFailure("interrupted; the broker that was starting has been stopped");
            }
            if (!process.isAlive()) {
                showLog(tails);
                throw new CommandFailure("the broker did not start (exit code " + process.exitValue()
                        + "); its last lines are above, its log is " + log);
            }
            if (waited.compareTo(timeout) >= 0) {
                showLog(tails);
                throw new CommandFailure("the broker (process " + process.pid() + ") is not ready after "
                        + Quantity.duration(waited) + "; see " + log + ", and bin/journalq-server status");
            }
            terminal().showProgress("starting, " + Quantity.duration(waited) + " ...");
            Thread.sleep(CHECK_INTERVAL_MS);
            broker = ready(wanted, process);
        }
        terminal().endProgress();
        show(broker.get(), process, Duration.ofNanos(System.nanoTime() - startNs), log);
    }

    /** Returns the addresses of the broker, once it is ready. Another start may be first to get the data directory. */
    private static Optional<LocalBroker> ready(LocalBroker wanted, Process process) {
        return wanted.holder()
                .filter(who -> isOf(process, who.processId()))
                .map(wanted::as)
                .filter(LocalBroker::ready);
    }

    /** Whether an id is that of the process, or of one that it has started: a program called java can be a script. */
    private static boolean isOf(Process process, long id) {
        return process.pid() == id || process.descendants().anyMatch(one -> one.pid() == id);
    }

    private void show(LocalBroker broker, Process process, Duration took, Path log) {
        terminal().printLine("JournalQ is ready at " + broker.address() + " after " + Quantity.duration(took));
        terminal().printLine("  process  " + process.pid());
        terminal().printLine("  data     " + broker.dataDirectory());
        terminal().printLine("  log      " + log);
        if (broker.adminAddress() != null) {
            terminal().printLine("  health   " + broker.adminUrl() + "/health, metrics at /metrics");
        }
        if (broker.warning() != null) {
            terminal().warn(broker.warning());
        }
    }

    private void showLog(List<LogTail> tails) throws IOException {
        for (LogTail tail : tails) {
            for (String line : tail.lastLines(SHOWN_LOG_LINES)) {
                // Stack traces have tabs, which are control characters.
                terminal().tell("  | " + line.replace("\t", "    "));
            }
        }
    }
}
