package io.journalq.cli.local;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.ExitCode;
import io.journalq.cli.shell.Quantity;
import io.journalq.common.commandline.DurationOption;
import io.journalq.server.directory.LockHolder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code journalq-server stop}. */
@Command(
        name = "stop",
        description = {
            "Stops the broker and waits until its journals are flushed and closed.",
            "The broker is identified by its data directory. Its other settings do not matter. If it is not running, shows"
                    + " which brokers are running on this machine. Fails if there are any and the command does not"
                    + " name a data directory."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq-server stop",
            "  journalq-server stop --config /etc/journalq/journalq.yaml",
            "  journalq-server stop --set data.directories=/var/lib/journalq"
        })
public final class StopCommand extends LocalCommand {
    private static final int CHECK_INTERVAL_MS = 50;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            defaultValue = "120s",
            converter = DurationOption.class,
            description = "How long to wait until the broker has stopped (default: 120s).")
    private Duration timeout;

    @Override
    public Integer call() throws InterruptedException {
        LocalBroker broker = broker();
        Optional<LockHolder> holder = broker.holder();
        Optional<ProcessHandle> running = holder.flatMap(LockHolder::process);
        if (running.isEmpty()) {
            if (broker.heldByAnUnseenProcess()) {
                throw new CommandFailure("a broker is running with " + broker.dataDirectory()
                        + ", but its process is not visible from here; stop it in its container or on its machine");
            }
            List<RunningBroker> others = RunningBroker.all();
            if (!broker.named() && !others.isEmpty()) {
                throw new CommandFailure("no broker is running with " + broker.dataDirectory() + ", but there is "
                        + String.join(
                                "; ",
                                others.stream().map(RunningBroker::toString).toList())
                        + "; to stop one of these, add --set data.directories=DIRECTORY");
            }
            terminal().printLine(broker.notRunning(others));
            return ExitCode.DONE;
        }
        ProcessHandle process = running.get();
        if (!process.destroy()) {
            throw new CommandFailure("process " + process.pid() + " cannot be stopped by this user; run this as "
                    + process.info().user().orElse("the user who started it"));
        }
        long startNs = System.nanoTime();
        while (holder.flatMap(LockHolder::process).isPresent()) {
            Duration waited = Duration.ofNanos(System.nanoTime() - startNs);
            if (waited.compareTo(timeout) >= 0) {
                throw new CommandFailure("process " + process.pid() + " has not stopped after "
                        + Quantity.duration(waited) + "; wait longer, or end it with kill -9 " + process.pid()
                        + ", which keeps all that was written to its files");
            }
            terminal().showProgress("stopping, " + Quantity.duration(waited) + " ...");
            Thread.sleep(CHECK_INTERVAL_MS);
        }
        terminal().endProgress();
        terminal()
                .printLine("stopped the broker (process " + process.pid() + ") in "
                        + Quantity.duration(Duration.ofNanos(System.nanoTime() - startNs)));
        return ExitCode.DONE;
    }
}
