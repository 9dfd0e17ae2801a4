package io.journalq.cli.group;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Table;
import io.journalq.client.Admin;
import io.journalq.client.admin.GroupListing;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code journalq groups list}. */
@Command(
        name = "list",
        description = "Lists the groups.",
        footerHeading = "%nExamples:%n",
        footer = {"  journalq groups list", "  journalq groups list --state Stable --output json"})
final class ListGroupsCommand extends ClientCommand {
    @Option(
            names = "--state",
            paramLabel = "STATE",
            description = "Only groups in this state, such as Stable or Empty.")
    private String state;

    @Override
    protected void execute() {
        List<GroupListing> groups;
        try (Admin admin = openAdmin()) {
            groups = admin.listGroups().stream()
                    .filter(group -> state == null || group.state().equalsIgnoreCase(state))
                    .toList();
        }
        if (wantsJson()) {
            List<Object> json = new ArrayList<>();
            groups.forEach(group -> json.add(jsonOf(group)));
            terminal().printLine(Json.document(json));
            return;
        }
        Table table = new Table("GROUP", "STATE", "TYPE", "PROTOCOL");
        groups.forEach(group -> table.row(group.groupId(), group.state(), group.type(), group.protocolType()));
        table.printTo(terminal());
    }

    private static Map<String, Object> jsonOf(GroupListing group) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("group", group.groupId());
        json.put("state", group.state());
        json.put("type", group.type());
        json.put("protocol", group.protocolType());
        return json;
    }
}
