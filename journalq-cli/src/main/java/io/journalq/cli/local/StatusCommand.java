package io.journalq.cli.local;

import io.journalq.cli.shell.ClientProgram;
import io.journalq.cli.shell.ExitCode;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.server.directory.LockHolder;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code journalq-server status}. */
@Command(
        name = "status",
        description = {
            "Shows whether the broker is running and ready.",
            "The broker is identified by its data directory. Its other settings do not matter. If it is not running, shows"
                    + " which brokers are running on this machine."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq-server status",
            "  journalq-server status --output json",
            "  journalq-server status --set data.directories=/var/lib/journalq"
        })
public final class StatusCommand extends LocalCommand {
    @Option(
            names = "--output",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "The format of the result (default: table).")
    private ClientProgram.OutputFormat output;

    @Override
    public Integer call() {
        LocalBroker wanted = broker();
        boolean running = wanted.holder().isPresent() || wanted.heldByAnUnseenProcess();
        Optional<ProcessHandle> process = wanted.holder().flatMap(LockHolder::process);
        // A program at the configured address may be another broker.
        LocalBroker broker = running ? wanted.asReported() : wanted;
        boolean ready = running && broker.ready();
        List<RunningBroker> others = running ? List.of() : RunningBroker.all();
        if (output == ClientProgram.OutputFormat.JSON) {
            terminal().printLine(Json.document(jsonOf(broker, process, running, ready, others)));
        } else {
            String warning = broker.warning();
            terminal().printLine(running ? sentence(broker, process, ready) : broker.notRunning(others));
            if (warning != null) {
                terminal().warn(warning);
            }
        }
        if (!running) {
            return ExitCode.NOT_RUNNING;
        }
        return ready ? ExitCode.DONE : ExitCode.FAILED;
    }

    private static String sentence(LocalBroker broker, Optional<ProcessHandle> process, boolean ready) {
        return (broker.address() == null ? "starting" : (ready ? "ready" : "running but not ready") + " at ")
                + (broker.address() == null ? "" : broker.address())
                + process.map(handle -> ", process " + handle.pid())
                        .orElse(", in a process that is not visible from here")
                + process.flatMap(StatusCommand::uptime)
                        .map(uptime -> ", up " + Quantity.duration(uptime))
                        .orElse("")
                + ", data in " + broker.dataDirectory();
    }

    private static Optional<Duration> uptime(ProcessHandle process) {
        return process.info().startInstant().map(start -> Duration.between(start, Instant.now()));
    }

    private static Map<String, Object> jsonOf(
            LocalBroker broker,
            Optional<ProcessHandle> process,
            boolean running,
            boolean ready,
            List<RunningBroker> others) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("running", running);
        json.put("ready", ready);
        json.put("address", broker.address());
        json.put(
                "openAddresses",
                broker.openAddresses().isEmpty()
                        ? List.of()
                        : List.of(broker.openAddresses().split(",", -1)));
        json.put("adminAddress", broker.adminAddress());
        json.put("processId", process.map(ProcessHandle::pid).orElse(null));
        json.put(
                "uptimeMs",
                process.flatMap(StatusCommand::uptime).map(Duration::toMillis).orElse(null));
        json.put("dataDirectory", broker.dataDirectory());
        if (!running) {
            json.put("otherBrokers", others.stream().map(RunningBroker::json).toList());
        }
        return json;
    }
}
