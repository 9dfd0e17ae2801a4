package io.journalq.cli.group;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.client.Admin;
import io.journalq.client.admin.GroupDescription;
import io.journalq.client.error.UnknownGroupException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.common.id.TopicPartition;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq groups reset-offsets}. */
@Command(
        name = "reset-offsets",
        description = {
            "Changes the committed offsets of a group without members. Shows the changes; --execute applies them.",
            "A new offset outside the partition is replaced by the first offset or the end of the partition."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq groups reset-offsets billing --all-topics --to-earliest --execute",
            "  journalq groups reset-offsets billing --topic orders --to-datetime 2026-01-31",
            "  journalq groups reset-offsets billing --topic orders:0,5 --shift-by -100",
            "  journalq groups reset-offsets billing --topic orders --by-duration 2h"
        })
final class ResetOffsetsCommand extends ClientCommand {
    @Parameters(paramLabel = "GROUP", description = "Name of the group. If it does not exist, it is created.")
    private String name;

    @Option(
            names = "--topic",
            paramLabel = "NAME[:PARTITION,...]",
            description = "Topic, or a part of its partitions, such as orders:0,5. Can be repeated.")
    private List<String> topics = new ArrayList<>();

    @Option(names = "--all-topics", description = "All partitions with a committed offset.")
    private boolean allTopics;

    @ArgGroup(multiplicity = "1")
    private NewOffset target;

    @Option(names = "--execute", description = "Applies the changes. Without this option, nothing is changed.")
    private boolean execute;

    /** The change of the offset of one partition; -1 if there was none. */
    private record Move(TopicPartition partition, long committed, long offset) {}

    @Override
    protected void execute() {
        if (allTopics == !topics.isEmpty()) {
            throw wrongUsage("select partitions with either --topic or --all-topics");
        }
        target.check(this);
        List<Move> moves;
        try (Admin admin = openAdmin()) {
            refuseMembers(admin);
            Map<TopicPartition, CommittedOffset> committed = admin.listGroupOffsets(name);
            Set<TopicPartition> chosen = chosen(admin, committed.keySet());
            moves = moves(committed, target.offsets(admin, committed, chosen));
            if (moves.isEmpty()) {
                throw new CommandFailure("group " + name + " has no committed offsets in these partitions; "
                        + "to set its first ones, use --to-earliest, --to-latest or --to-offset with --topic");
            }
            if (execute) {
                Map<TopicPartition, CommittedOffset> altered = new LinkedHashMap<>();
                moves.forEach(move -> altered.put(move.partition(), CommittedOffset.of(move.offset())));
                admin.alterGroupOffsets(name, altered);
            }
        }
        show(moves);
    }

    private void refuseMembers(Admin admin) {
        GroupDescription group;
        try {
            group = admin.describeGroup(name);
        } catch (UnknownGroupException none) {
            return;
        }
        if (!group.members().isEmpty()) {
            throw new CommandFailure("group " + name + " has "
                    + Quantity.count(group.members().size(), "member")
                    + ", which would continue at their own positions; stop its consumers, then try again (journalq"
                    + " groups describe " + name + " shows them)");
        }
    }

    private Set<TopicPartition> chosen(Admin admin, Set<TopicPartition> committed) {
        if (allTopics) {
            if (committed.isEmpty()) {
                throw new CommandFailure("group " + name + " has no committed offsets; select topics with --topic");
            }
            return GroupLagCommand.existing(admin, committed);
        }
        Set<TopicPartition> chosen = new LinkedHashSet<>();
        for (String topic : topics) {
            int colon = topic.indexOf(':');
            String topicName = colon < 0 ? topic : topic.substring(0, colon);
            int count = admin.describeTopics(List.of(topicName))
                    .get(topicName)
                    .partitions()
                    .size();
            for (int partition : colon < 0 ? List.<Integer>of() : numbers(topic.substring(colon + 1), topic)) {
                if (partition >= count) {
                    throw new CommandFailure(
                            "topic " + topicName + " has no partition " + partition + "; it has 0 to " + (count - 1));
                }
                chosen.add(new TopicPartition(topicName, partition));
            }
            for (int partition = 0; colon < 0 && partition < count; partition++) {
                chosen.add(new TopicPartition(topicName, partition));
            }
        }
        return chosen;
    }

    private List<Integer> numbers(String list, String whole) {
        List<Integer> numbers = new ArrayList<>();
        for (String word : list.split(",", -1)) {
            if (!word.matches("\\d{1,9}")) {
                throw wrongUsage("--topic '" + whole + "' is not of the form NAME or NAME:0,5");
            }
            numbers.add(Integer.parseInt(word));
        }
        return numbers;
    }

    private static List<Move> moves(Map<TopicPartition, CommittedOffset> committed, Map<TopicPartition, Long> offsets) {
        Map<TopicPartition, Long> sorted = new TreeMap<>(
                java.util.Comparator.comparing(TopicPartition::topic).thenComparingInt(TopicPartition::partition));
        sorted.putAll(offsets);
        List<Move> moves = new ArrayList<>();
        sorted.forEach((partition, offset) -> {
            CommittedOffset before = committed.get(partition);
            moves.add(new Move(partition, before == null ? -1 : before.offset(), offset));
        });
        return moves;
    }

    private void show(List<Move> moves) {
        if (wantsJson()) {
            List<Object> partitions = new ArrayList<>();
            for (Move move : moves) {
                Map<String, Object> partition = new LinkedHashMap<>();
                partition.put("topic", move.partition().topic());
                partition.put("partition", move.partition().partition());
                partition.put("committed", move.committed() < 0 ? null : move.committed());
                partition.put("offset", move.offset());
                partitions.add(partition);
            }
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("group", name);
            json.put("executed", execute);
            json.put("partitions", partitions);
            terminal().printLine(Json.document(json));
            return;
        }
        Table table = new Table("TOPIC", "PARTITION", "COMMITTED", "NEW");
        moves.forEach(move -> table.row(
                move.partition().topic(),
                move.partition().partition(),
                move.committed() < 0 ? null : move.committed(),
                move.offset()));
        table.printTo(terminal());
        if (!execute) {
            terminal().tell("Nothing was changed. To apply the changes, add --execute.");
        }
    }
}
