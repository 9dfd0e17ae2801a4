package io.journalq.cli.cluster;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.client.Admin;
import io.journalq.client.admin.ElectionType;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.common.id.TopicPartition;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq cluster elect}. */
@Command(
        name = "elect",
        description = {
            "Gives partitions to their preferred leaders, the first of their replicas. The cluster does so by itself"
                    + " within 60 s for brokers that lack more than 10 %%.",
            "With --unclean, makes any live replica lead a partition that has no leader. Acknowledged records can be"
                    + " lost, so that the topic must allow it (unclean.leader.election.enable=true).",
            "Shows the partitions; --execute elects."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq cluster elect",
            "  journalq cluster elect orders --execute",
            "  journalq cluster elect orders:0 --unclean --execute --accept-loss"
        })
final class ElectCommand extends ClientCommand {
    @Parameters(
            paramLabel = "TOPIC[:PARTITION,...]",
            description = "Topics, or parts of their partitions, such as orders:0,5 (default: all topics).")
    private List<String> topics = new ArrayList<>();

    @Option(names = "--unclean", description = "Elects replicas that may lack acknowledged records.")
    private boolean unclean;

    @Option(names = "--execute", description = "Elects. Without this option, nothing is changed.")
    private boolean execute;

    @Option(names = "--accept-loss", description = "Confirms that acknowledged records can be lost with --unclean.")
    private boolean acceptLoss;

    @Override
    protected void execute() {
        if (unclean && execute && !acceptLoss) {
            throw wrongUsage("with --unclean, acknowledged records can be lost; to accept that, add --accept-loss");
        }
        try (Admin admin = openAdmin()) {
            Map<TopicPartition, PartitionDescription> partitions =
                    ClusterState.of(admin).selected(topics);
            partitions
                    .values()
                    .removeIf(partition -> unclean
                            ? partition.leader() >= 0
                            : partition.leader() == partition.replicas().get(0));
            if (!execute) {
                show(partitions);
                return;
            }
            Set<TopicPartition> elected = partitions.isEmpty()
                    ? Set.of()
                    : admin.electLeaders(unclean ? ElectionType.UNCLEAN : ElectionType.PREFERRED, partitions.keySet());
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("elected", elected.size());
            report(
                    partitions.isEmpty()
                            ? nothingToDo()
                            : "elected leaders of " + Quantity.count(elected.size(), "partition"),
                    json);
        }
    }

    private String nothingToDo() {
        return unclean ? "Each partition has a leader." : "Each partition has its preferred leader.";
    }

    private void show(Map<TopicPartition, PartitionDescription> partitions) {
        if (wantsJson()) {
            List<Object> json = new ArrayList<>();
            partitions.forEach((partition, description) -> {
                Map<String, Object> entry = new LinkedHashMap<>();
                entry.put("topic", partition.topic());
                entry.put("partition", partition.partition());
                entry.put("leader", description.leader());
                entry.put("replicas", description.replicas());
                entry.put("inSyncReplicas", description.inSyncReplicas());
                json.add(entry);
            });
            terminal().printLine(Json.document(json));
            return;
        }
        if (partitions.isEmpty()) {
            terminal().printLine(nothingToDo());
            return;
        }
        Table table = new Table("TOPIC", "PARTITION", "LEADER", "REPLICAS", "IN-SYNC");
        partitions.forEach((partition, description) -> table.row(
                partition.topic(),
                partition.partition(),
                description.leader() < 0 ? "none" : description.leader(),
                ClusterState.ids(description.replicas()),
                ClusterState.ids(description.inSyncReplicas())));
        table.printTo(terminal());
        terminal()
                .tell(
                        unclean
                                ? "Nothing was changed. To elect leaders that may lack acknowledged records, add"
                                        + " --execute --accept-loss."
                                : "Nothing was changed. To elect the preferred leaders, add --execute.");
    }
}
