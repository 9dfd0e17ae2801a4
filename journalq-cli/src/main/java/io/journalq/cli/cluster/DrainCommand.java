package io.journalq.cli.cluster;

import io.journalq.cli.cluster.ReplicaPlan.Move;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.client.admin.BrokerNode;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.common.id.TopicPartition;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code journalq cluster drain}. */
@Command(
        name = "drain",
        description = {
            "Moves all replicas of a broker to other brokers, while clients use them. The broker may be down, as long as"
                    + " other replicas are in sync.",
            "Shows the moves; --execute makes them. Afterwards, stop the broker and remove it."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  journalq cluster drain 3", "  journalq cluster drain 3 --execute", "  journalq cluster remove 3"})
final class DrainCommand extends MoveCommand {
    @Parameters(paramLabel = "BROKER", description = "Id of the broker.")
    private int id;

    @Override
    List<Move> moves(ClusterState state) {
        state.broker(id);
        List<BrokerNode> others =
                state.live().stream().filter(broker -> broker.id() != id).toList();
        Map<TopicPartition, PartitionDescription> partitions = state.partitions();
        partitions.entrySet().removeIf(entry -> !state.target(entry.getKey(), entry.getValue())
                .contains(id));
        for (Map.Entry<TopicPartition, PartitionDescription> entry : partitions.entrySet()) {
            int factor = state.target(entry.getKey(), entry.getValue()).size();
            if (factor > others.size()) {
                String topic = entry.getKey().topic();
                throw new CommandFailure("broker " + id + " cannot be drained: topic " + topic + " has " + factor
                        + (factor == 1 ? " replica" : " replicas") + " of each partition, and only " + others.size()
                        + " other brokers are live; start another broker, or run journalq cluster replicate --factor "
                        + Math.max(1, others.size()) + " " + topic);
            }
        }
        return plan(state, partitions, others, broker -> broker != id, before -> before);
    }

    @Override
    String nothingToDo() {
        return "Broker " + id + " has no replicas. When it is stopped, journalq cluster remove " + id + " removes it.";
    }
}
