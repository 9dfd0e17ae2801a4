package io.journalq.server.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code journalq-server status}. */
@Command(
        name = "status",
        description = "Says whether the broker runs and is ready.",
        footerHeading = "%nExamples:%n",
        footer = {"  journalq-server status", "  journalq-server status --output json"})
final class StatusCommand extends LocalCommand {
    @Option(
            names = "--output",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "How the result is shown (default: table).")
    private OutputFormat output;

    @Override
    public Integer call() {
        LocalBroker broker = broker();
        // A broker in the foreground, as a service manager runs it, has no process file: then its readiness tells.
        Optional<ProcessHandle> process = new PidFile(broker.dataDirectory()).runningProcess();
        boolean ready = broker.ready();
        boolean running = ready || process.isPresent();
        if (output == OutputFormat.JSON) {
            terminal().printLine(Json.document(jsonOf(broker, process, running, ready)));
        } else {
            terminal().printLine(sentence(broker, process, running, ready));
        }
        if (!running) {
            return ExitCode.NOT_RUNNING;
        }
        return ready ? ExitCode.DONE : ExitCode.FAILED;
    }

    private static String sentence(
            LocalBroker broker, Optional<ProcessHandle> process, boolean running, boolean ready) {
        if (!running) {
            return "no broker is running with " + broker.dataDirectory() + "; start one with bin/journalq-server start";
        }
        return (ready ? "ready at " : "running but not ready at ") + broker.address()
                + process.map(handle -> ", process " + handle.pid()).orElse("")
                + process.flatMap(StatusCommand::uptime)
                        .map(uptime -> ", up " + Quantity.duration(uptime))
                        .orElse("")
                + ", data in " + broker.dataDirectory();
    }

    private static Optional<Duration> uptime(ProcessHandle process) {
        return process.info().startInstant().map(start -> Duration.between(start, Instant.now()));
    }

    private static Map<String, Object> jsonOf(
            LocalBroker broker, Optional<ProcessHandle> process, boolean running, boolean ready) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("running", running);
        json.put("ready", ready);
        json.put("address", broker.address());
        json.put("adminAddress", broker.adminAddress());
        json.put("processId", process.map(ProcessHandle::pid).orElse(null));
        json.put(
                "uptimeMs",
                process.flatMap(StatusCommand::uptime).map(Duration::toMillis).orElse(null));
        json.put("dataDirectory", broker.dataDirectory());
        return json;
    }
}
