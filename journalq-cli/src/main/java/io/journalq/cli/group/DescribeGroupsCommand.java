package io.journalq.cli.group;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.Admin;
import io.journalq.client.admin.GroupDescription;
import io.journalq.client.admin.GroupMemberDescription;
import io.journalq.common.id.TopicPartition;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code journalq groups describe}. */
@Command(
        name = "describe",
        description = "Shows groups, their members, and the partitions of each member.",
        footerHeading = "%nExamples:%n",
        footer = {"  journalq groups describe billing", "  journalq groups describe billing audit --output json"})
final class DescribeGroupsCommand extends ClientCommand {
    @Parameters(arity = "1..*", paramLabel = "GROUP", description = "Names of the groups.")
    private List<String> names;

    @Override
    protected void execute() {
        List<Object> json = new ArrayList<>();
        try (Admin admin = openAdmin()) {
            for (String name : names) {
                GroupDescription group = admin.describeGroup(name);
                if (wantsJson()) {
                    json.add(jsonOf(group));
                } else {
                    print(group);
                }
            }
        }
        if (wantsJson()) {
            terminal().printLine(Json.document(json));
        }
    }

    private void print(GroupDescription group) {
        terminal()
                .printLine(Terminal.printable(
                        "Group " + group.groupId() + "  " + group.type() + "  " + group.state() + "  "
                                + Quantity.count(group.members().size(), "member")
                                + (group.epoch() < 0 ? "" : "  epoch " + group.epoch())
                                + (group.assignor().isEmpty() ? "" : "  assignor " + group.assignor())));
        if (group.members().isEmpty()) {
            return;
        }
        Table table = new Table("MEMBER", "CLIENT", "HOST", "INSTANCE", "PARTITIONS");
        for (GroupMemberDescription member : group.members()) {
            table.row(
                    member.memberId(),
                    member.clientId(),
                    member.clientHost(),
                    member.instanceId(),
                    words(member.partitions()));
        }
        table.printTo(terminal());
    }

    /** Formats partitions as in {@code orders:0,1,5 audit:2}. */
    private static String words(List<TopicPartition> partitions) {
        Map<String, List<String>> topics = new LinkedHashMap<>();
        partitions.forEach(partition -> topics.computeIfAbsent(partition.topic(), name -> new ArrayList<>())
                .add(Integer.toString(partition.partition())));
        List<String> words = new ArrayList<>();
        topics.forEach((name, numbers) -> words.add(name + ":" + String.join(",", numbers)));
        return String.join(" ", words);
    }

    private static Map<String, Object> jsonOf(GroupDescription group) {
        List<Object> members = new ArrayList<>();
        for (GroupMemberDescription member : group.members()) {
            List<Object> partitions = new ArrayList<>();
            for (TopicPartition assigned : member.partitions()) {
                Map<String, Object> partition = new LinkedHashMap<>();
                partition.put("topic", assigned.topic());
                partition.put("partition", assigned.partition());
                partitions.add(partition);
            }
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("member", member.memberId());
            json.put("instance", member.instanceId());
            json.put("client", member.clientId());
            json.put("host", member.clientHost());
            json.put("partitions", partitions);
            members.add(json);
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("group", group.groupId());
        json.put("type", group.type());
        json.put("state", group.state());
        json.put("epoch", group.epoch() < 0 ? null : group.epoch());
        json.put("assignor", group.assignor());
        json.put("members", members);
        return json;
    }
}
