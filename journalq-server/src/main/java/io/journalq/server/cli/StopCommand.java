package io.journalq.server.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code journalq-server stop}. */
@Command(
        name = "stop",
        description = "Stops the broker and waits until its journals are flushed and closed.",
        footerHeading = "%nExamples:%n",
        footer = {"  journalq-server stop", "  journalq-server stop --config /etc/journalq/journalq.yaml"})
final class StopCommand extends LocalCommand {
    private static final int CHECK_INTERVAL_MS = 50;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            defaultValue = "120s",
            converter = DurationOption.class,
            description = "How long to wait for it (default: 120s).")
    private Duration timeout;

    @Override
    public Integer call() throws IOException, InterruptedException {
        LocalBroker broker = broker();
        PidFile pidFile = new PidFile(broker.dataDirectory());
        Optional<ProcessHandle> running = pidFile.runningProcess();
        if (running.isEmpty()) {
            pidFile.delete();
            terminal().printLine("no broker is running with " + broker.dataDirectory());
            return ExitCode.DONE;
        }
        ProcessHandle process = running.get();
        if (!process.destroy()) {
            throw new CommandFailure("process " + process.pid() + " cannot be told to stop; do it as "
                    + process.info().user().orElse("the user who started it"));
        }
        long startNs = System.nanoTime();
        while (process.isAlive()) {
            Duration waited = Duration.ofNanos(System.nanoTime() - startNs);
            if (waited.compareTo(timeout) >= 0) {
                throw new CommandFailure("process " + process.pid() + " has not stopped after "
                        + Quantity.duration(waited) + "; wait longer, or end it with kill -9 " + process.pid()
                        + " and lose nothing that was written");
            }
            terminal().showProgress("stopping, " + Quantity.duration(waited) + " ...");
            Thread.sleep(CHECK_INTERVAL_MS);
        }
        pidFile.delete();
        terminal().endProgress();
        terminal()
                .printLine("stopped the broker (process " + process.pid() + ") in "
                        + Quantity.duration(Duration.ofNanos(System.nanoTime() - startNs)));
        return ExitCode.DONE;
    }
}
