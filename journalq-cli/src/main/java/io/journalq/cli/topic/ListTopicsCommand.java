package io.journalq.cli.topic;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Table;
import io.journalq.client.Admin;
import io.journalq.client.admin.TopicListing;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code journalq topics list}. */
@Command(
        name = "list",
        description = "Lists the topics.",
        footerHeading = "%nExamples:%n",
        footer = {"  journalq topics list", "  journalq topics list --output json"})
final class ListTopicsCommand extends ClientCommand {
    @Option(names = "--internal", description = "Also shows the internal topics of the broker.")
    private boolean internal;

    @Override
    protected void execute() {
        List<TopicListing> topics;
        try (Admin admin = openAdmin()) {
            topics = admin.listTopics().stream()
                    .filter(topic -> internal || !topic.internal())
                    .toList();
        }
        if (wantsJson()) {
            List<Object> json = new ArrayList<>();
            topics.forEach(topic -> json.add(jsonOf(topic)));
            terminal().printLine(Json.document(json));
            return;
        }
        Table table = new Table("TOPIC", "PARTITIONS", "ID");
        topics.forEach(topic -> table.row(topic.name(), topic.partitionCount(), topic.id()));
        table.printTo(terminal());
    }

    private static Map<String, Object> jsonOf(TopicListing topic) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("topic", topic.name());
        json.put("partitions", topic.partitionCount());
        json.put("id", topic.id());
        json.put("internal", topic.internal());
        return json;
    }
}
