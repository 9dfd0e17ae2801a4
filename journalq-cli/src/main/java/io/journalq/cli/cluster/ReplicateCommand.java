package io.journalq.cli.cluster;

import io.journalq.cli.cluster.ReplicaPlan.Move;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.common.id.TopicPartition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq cluster replicate}. */
@Command(
        name = "replicate",
        description = {
            "Gives partitions more or fewer replicas, while clients use them. New replicas go to the brokers and racks"
                    + " with the fewest, and the leaders are spread over all brokers.",
            "Shows the changes; --execute applies them, and waits until the new replicas are in sync."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq cluster replicate --factor 3",
            "  journalq cluster replicate --factor 3 --execute",
            "  journalq cluster replicate --factor 2 orders audit:0,1 --execute"
        })
final class ReplicateCommand extends MoveCommand {
    @Parameters(
            paramLabel = "TOPIC[:PARTITION,...]",
            description = "Topics, or parts of their partitions, such as orders:0,5 (default: all topics,"
                    + " including internal ones).")
    private List<String> topics = new ArrayList<>();

    @Option(names = "--factor", paramLabel = "COUNT", required = true, description = "Replicas of each partition.")
    private int factor;

    @Override
    List<Move> moves(ClusterState state) {
        if (factor < 1) {
            throw wrongUsage("--factor must be at least 1");
        }
        int live = state.live().size();
        if (factor > live) {
            throw new CommandFailure("the cluster has " + live + " live broker" + (live == 1 ? "" : "s") + ", and "
                    + factor + " replicas need as many; start more brokers (cluster.join), or lower --factor");
        }
        Map<TopicPartition, PartitionDescription> partitions = state.selected(topics);
        return plan(state, partitions, state.live(), id -> true, before -> factor);
    }

    @Override
    String nothingToDo() {
        return "Each partition has " + factor + " replica" + (factor == 1 ? "" : "s") + " already.";
    }
}
