package io.journalq.cli.cluster;

import io.journalq.cli.cluster.ReplicaPlan.Move;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.client.Admin;
import io.journalq.client.admin.BrokerNode;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.client.admin.PartitionReassignment;
import io.journalq.common.id.TopicPartition;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq cluster reassign}. */
@Command(
        name = "reassign",
        description = {
            "Moves partitions to certain brokers, while clients use them. Each partition keeps its number of replicas,"
                    + " and the replicas that are on these brokers already.",
            "Shows the moves; --execute makes them. --list shows the partitions that move, and --cancel returns to their"
                    + " replicas before."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq cluster reassign orders --to 1,2 --execute",
            "  journalq cluster reassign orders:0 --to 2,1 --throttle 50MiB/s --execute",
            "  journalq cluster reassign --list",
            "  journalq cluster reassign --cancel --execute"
        })
final class ReassignCommand extends MoveCommand {
    @Parameters(
            paramLabel = "TOPIC[:PARTITION,...]",
            description = "Topics, or parts of their partitions, such as orders:0,5. With --list and --cancel, the"
                    + " default is all topics.")
    private List<String> topics = new ArrayList<>();

    @ArgGroup(multiplicity = "1")
    private Mode mode;

    /** One of them. */
    private static final class Mode {
        @Option(
                names = "--to",
                split = ",",
                paramLabel = "BROKER",
                description = "Ids of the brokers, separated by commas.")
        private List<Integer> brokers;

        @Option(names = "--list", description = "Shows the partitions that move, and how far they are.")
        private boolean list;

        @Option(names = "--cancel", description = "Returns to the replicas before. Applied with --execute.")
        private boolean cancel;

        @Option(
                names = "--unthrottle",
                description = "Removes the throttles of all live brokers and of all topics. Applied with --execute.")
        private boolean unthrottle;
    }

    @Override
    protected void execute() throws InterruptedException {
        if (mode.brokers != null && topics.isEmpty()) {
            throw wrongUsage("name the topics to move");
        }
        if (mode.brokers == null && isThrottled()) {
            throw wrongUsage("--throttle is for --to");
        }
        try (Admin admin = openAdmin()) {
            ClusterState state = ClusterState.of(admin);
            if (mode.list) {
                list(state, moving(state));
            } else if (mode.cancel) {
                cancel(admin, moving(state));
            } else if (mode.unthrottle) {
                unthrottle(admin, state);
            } else {
                move(admin, state);
            }
        }
    }

    private Map<TopicPartition, PartitionReassignment> moving(ClusterState state) {
        Map<TopicPartition, PartitionReassignment> moving = new LinkedHashMap<>(state.moving());
        moving.keySet().retainAll(state.selected(topics).keySet());
        return moving;
    }

    @Override
    List<Move> moves(ClusterState state) {
        Set<Integer> chosen = new LinkedHashSet<>(mode.brokers);
        List<BrokerNode> brokers = new ArrayList<>();
        for (int id : chosen) {
            BrokerNode broker = state.broker(id);
            if (broker.fenced()) {
                throw new CommandFailure(
                        "broker " + id + " is down, or has not caught up; start it, or choose another");
            }
            brokers.add(broker);
        }
        Map<TopicPartition, PartitionDescription> partitions = state.selected(topics);
        partitions.forEach((partition, description) -> {
            int factor = state.target(partition, description).size();
            if (factor > brokers.size()) {
                throw new CommandFailure("partition " + partition + " has " + factor + " replicas, and --to names "
                        + Quantity.count(brokers.size(), "broker") + "; name more brokers, or run journalq cluster"
                        + " replicate --factor " + brokers.size() + " " + partition.topic());
            }
        });
        return plan(state, partitions, brokers, chosen::contains, before -> before);
    }

    @Override
    String nothingToDo() {
        return "The partitions are on these brokers already.";
    }

    private void list(ClusterState state, Map<TopicPartition, PartitionReassignment> moving) {
        if (wantsJson()) {
            List<Object> json = new ArrayList<>();
            moving.forEach((partition, reassignment) -> {
                Map<String, Object> entry = new LinkedHashMap<>();
                entry.put("topic", partition.topic());
                entry.put("partition", partition.partition());
                entry.put("replicas", reassignment.replicas());
                entry.put("adding", reassignment.adding());
                entry.put("removing", reassignment.removing());
                entry.put("bytesLeft", PartitionMoves.bytesLeft(state.logDirs(), Map.of(partition, reassignment)));
                json.add(entry);
            });
            terminal().printLine(Json.document(json));
            return;
        }
        if (moving.isEmpty()) {
            terminal().printLine("No partition moves.");
            return;
        }
        Table table = new Table("TOPIC", "PARTITION", "REPLICAS", "ADDING", "REMOVING", "LEFT");
        moving.forEach((partition, reassignment) -> table.row(
                partition.topic(),
                partition.partition(),
                ClusterState.ids(reassignment.replicas()),
                ClusterState.ids(reassignment.adding()),
                ClusterState.ids(reassignment.removing()),
                Quantity.size(PartitionMoves.bytesLeft(state.logDirs(), Map.of(partition, reassignment)))));
        table.printTo(terminal());
        long total = moving.entrySet().stream()
                .mapToLong(entry -> state.sizeBytes(entry.getKey())
                        * entry.getValue().adding().size())
                .sum();
        long left = PartitionMoves.bytesLeft(state.logDirs(), moving);
        terminal()
                .printLine(Quantity.count(moving.size(), "partition") + " move, " + Quantity.size(left) + " left"
                        + PartitionMoves.percentage(total, left));
    }

    private void unthrottle(Admin admin, ClusterState state) {
        if (!isExecuted()) {
            if (wantsJson()) {
                terminal().printLine(Json.document(Map.of("executed", false)));
            }
            terminal()
                    .tell("Nothing was changed. To remove the throttles of all live brokers and of all topics, add"
                            + " --execute.");
            return;
        }
        MoveThrottle.Removed removed =
                new MoveThrottle(admin, terminal()).remove(state.topics().keySet());
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("executed", true);
        json.put("topics", removed.topics());
        json.put("brokersDown", removed.down());
        String brokers = removed.down().isEmpty() ? "all brokers" : "the brokers that are live";
        report("removed the throttles of " + brokers + " and of " + Quantity.count(removed.topics(), "topic"), json);
        if (!removed.down().isEmpty()) {
            terminal()
                    .warn("the rates of brokers that are down stay (" + ClusterState.ids(removed.down())
                            + "); they limit nothing until other moves are throttled. To remove them, run the command"
                            + " again when these brokers are live");
        }
    }

    private void cancel(Admin admin, Map<TopicPartition, PartitionReassignment> moving) {
        if (!isExecuted()) {
            list(ClusterState.of(admin), moving);
            terminal().tell("Nothing was changed. To cancel these moves, add --execute.");
            return;
        }
        Map<TopicPartition, List<Integer>> cancelled = new LinkedHashMap<>();
        moving.keySet().forEach(partition -> cancelled.put(partition, List.of()));
        if (!cancelled.isEmpty()) {
            admin.alterPartitionReassignments(cancelled);
            new MoveThrottle(admin, terminal()).end(cancelled.keySet());
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("cancelled", cancelled.size());
        report("cancelled the moves of " + Quantity.count(cancelled.size(), "partition"), json);
    }
}
