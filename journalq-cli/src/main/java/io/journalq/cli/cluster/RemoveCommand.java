package io.journalq.cli.cluster;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.client.Admin;
import io.journalq.client.admin.BrokerNode;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq cluster remove}. */
@Command(
        name = "remove",
        description = {
            "Removes a broker that is stopped and has no replicas, from the cluster and from the quorum. Drain and stop"
                    + " it first.",
            "Its id can be used again, by a broker with an empty data directory."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  journalq cluster remove 3", "  journalq cluster remove 3 --execute"})
final class RemoveCommand extends ClientCommand {
    @Parameters(paramLabel = "BROKER", description = "Id of the broker.")
    private int id;

    @Option(names = "--execute", description = "Removes the broker. Without this option, nothing is changed.")
    private boolean execute;

    @Override
    protected void execute() {
        try (Admin admin = openAdmin()) {
            ClusterState state = ClusterState.of(admin);
            BrokerNode broker = state.broker(id);
            if (!broker.fenced()) {
                throw new CommandFailure("broker " + id + " is running; drain it (journalq cluster drain " + id
                        + "), stop it, and try again");
            }
            long replicas = state.partitions().values().stream()
                    .filter(partition -> partition.replicas().contains(id))
                    .count();
            if (replicas > 0) {
                throw new CommandFailure("broker " + id + " has a replica of " + replicas
                        + (replicas == 1 ? " partition" : " partitions")
                        + "; move them to other brokers first: journalq"
                        + " cluster drain " + id);
            }
            if (execute) {
                admin.unregisterBroker(id);
            }
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("broker", id);
        json.put("removed", execute);
        report(
                execute
                        ? "removed broker " + id + "; before it joins again, empty its data directory"
                        : "broker " + id + " is stopped and has no replicas",
                json);
        if (!execute) {
            terminal().tell("Nothing was changed. To remove the broker, add --execute.");
        }
    }
}
