package io.journalq.cli.cluster;

import io.journalq.cli.cluster.ReplicaPlan.Move;
import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.client.Admin;
import io.journalq.client.admin.BrokerNode;
import io.journalq.client.admin.ConfigChange;
import io.journalq.client.admin.ConfigEntry;
import io.journalq.client.admin.ConfigResource;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.common.id.TopicPartition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.function.Predicate;
import picocli.CommandLine.Option;

/** A command that moves partitions to other brokers. Shows the moves first. */
abstract class MoveCommand extends ClientCommand {
    private static final int MOST_ROWS = 40;
    private static final String MODE = "delivery.mode";

    @Option(names = "--execute", description = "Moves the partitions. Without this option, nothing is changed.")
    private boolean execute;

    @Option(
            names = "--no-wait",
            description = "Does not wait for the end. journalq cluster reassign --list shows the progress.")
    private boolean noWait;

    @Option(
            names = "--throttle",
            paramLabel = "RATE",
            description =
                    "Limits what each broker sends and fetches for these moves, such as 50MiB/s. Replicas that are"
                            + " in sync are not held back.")
    private String throttle;

    final boolean isThrottled() {
        return throttle != null;
    }

    final boolean isExecuted() {
        return execute;
    }

    /** The moves that the command makes. */
    abstract List<Move> moves(ClusterState state);

    /** What to say if there is none. */
    abstract String nothingToDo();

    @Override
    protected void execute() throws InterruptedException {
        try (Admin admin = openAdmin()) {
            move(admin, ClusterState.of(admin));
        }
    }

    final void move(Admin admin, ClusterState state) throws InterruptedException {
        long bytesPerSecond = isThrottled() ? rate() : 0;
        List<Move> moves = moves(state);
        if (wantsJson()) {
            terminal().printLine(Json.document(jsonOf(moves)));
        } else if (moves.isEmpty()) {
            terminal().printLine(nothingToDo());
        } else {
            show(moves);
        }
        if (moves.isEmpty()) {
            return;
        }
        if (!execute) {
            terminal().tell("Nothing was changed. To move the partitions, add --execute.");
            return;
        }
        terminal().flush();
        keepModes(admin, state, moves);
        PartitionMoves partitionMoves = new PartitionMoves(admin, terminal());
        if (!isThrottled()) {
            partitionMoves.run(moves, !noWait);
            return;
        }
        MoveThrottle moveThrottle = new MoveThrottle(admin, terminal());
        moveThrottle.begin(state, moves, bytesPerSecond);
        List<TopicPartition> moved = moves.stream().map(Move::partition).toList();
        try {
            partitionMoves.run(moves, !noWait);
        } catch (CommandFailure some) {
            endUnlessMoving(moveThrottle, moved);
            throw some;
        }
        endUnlessMoving(moveThrottle, moved);
    }

    private void endUnlessMoving(MoveThrottle moveThrottle, List<TopicPartition> moved) {
        if (noWait) {
            terminal().tell("The throttle stays; to remove it after the moves, run " + MoveThrottle.REMOVAL);
        } else {
            moveThrottle.end(moved);
        }
    }

    private long rate() {
        try {
            return MoveThrottle.parse(throttle);
        } catch (IllegalArgumentException malformed) {
            throw wrongUsage(malformed.getMessage());
        }
    }

    /**
     * Plans a move for each partition whose brokers change.
     *
     * @param partitions those that may move
     * @param brokers those that may get replicas
     * @param keeps whether the replica on a broker may stay
     * @param factor number of replicas of a partition in the end, by the number now
     */
    static List<Move> plan(
            ClusterState state,
            Map<TopicPartition, PartitionDescription> partitions,
            Collection<BrokerNode> brokers,
            Predicate<Integer> keeps,
            IntUnaryOperator factor) {
        List<List<Integer>> placed = new ArrayList<>();
        state.partitions().forEach((partition, description) -> placed.add(state.target(partition, description)));
        ReplicaPlan plan = new ReplicaPlan(brokers, placed);
        List<Move> moves = new ArrayList<>();
        partitions.forEach((partition, description) -> {
            List<Integer> before = state.target(partition, description);
            List<Integer> after = plan.place(
                    before,
                    before.stream().filter(keeps).toList(),
                    description.inSyncReplicas(),
                    factor.applyAsInt(before.size()));
            if (!after.equals(before)) {
                long added = after.stream()
                        .filter(id -> !description.replicas().contains(id))
                        .count();
                moves.add(new Move(partition, before, after, added * state.sizeBytes(partition)));
            }
        });
        return moves;
    }

    /**
     * Topics with several replicas need a delivery mode of their own, because brokers can have different defaults. It is
     * the mode that the topic has.
     */
    private static void keepModes(Admin admin, ClusterState state, List<Move> moves) {
        List<ConfigResource> topics = moves.stream()
                .filter(move -> move.from().size() == 1)
                .map(move -> move.partition().topic())
                .distinct()
                .filter(topic -> !state.isInternal(topic))
                .map(ConfigResource::topic)
                .toList();
        admin.describeConfigs(topics).forEach((topic, entries) -> {
            for (ConfigEntry entry : entries) {
                if (entry.name().equals(MODE) && entry.source() != ConfigEntry.Source.DYNAMIC_TOPIC_CONFIG) {
                    admin.alterConfigs(topic, List.of(ConfigChange.set(MODE, entry.value())));
                }
            }
        });
    }

    private void show(List<Move> moves) {
        Table table = new Table("TOPIC", "PARTITION", "REPLICAS", "NEW", "TO COPY");
        for (Move move : moves.subList(0, Math.min(MOST_ROWS, moves.size()))) {
            table.row(
                    move.partition().topic(),
                    move.partition().partition(),
                    ClusterState.ids(move.from()),
                    ClusterState.ids(move.to()),
                    Quantity.size(move.copiedBytes()));
        }
        table.printTo(terminal());
        if (moves.size() > MOST_ROWS) {
            terminal().printLine("… and " + Quantity.count(moves.size() - MOST_ROWS) + " more");
        }
        terminal()
                .printLine(Quantity.count(moves.size(), "partition") + ", "
                        + Quantity.size(
                                moves.stream().mapToLong(Move::copiedBytes).sum())
                        + " to copy");
    }

    private Object jsonOf(List<Move> moves) {
        List<Object> partitions = new ArrayList<>();
        for (Move move : moves) {
            Map<String, Object> partition = new LinkedHashMap<>();
            partition.put("topic", move.partition().topic());
            partition.put("partition", move.partition().partition());
            partition.put("replicas", move.from());
            partition.put("newReplicas", move.to());
            partition.put("bytesToCopy", move.copiedBytes());
            partitions.add(partition);
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("executed", execute);
        json.put("partitions", partitions);
        return json;
    }
}
