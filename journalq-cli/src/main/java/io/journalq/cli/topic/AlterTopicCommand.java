package io.journalq.cli.topic;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Quantity;
import io.journalq.client.Admin;
import io.journalq.client.admin.ConfigChange;
import io.journalq.client.admin.ConfigResource;
import io.journalq.client.error.JournalQException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq topics alter}. */
@Command(
        name = "alter",
        description = "Adds partitions to a topic, or changes its configurations.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq topics alter orders --partitions 400",
            "  journalq topics alter orders --config retention.ms=1d --unset segment.bytes"
        })
final class AlterTopicCommand extends ClientCommand {
    @Parameters(paramLabel = "NAME", description = "Name of the topic.")
    private String name;

    @Option(
            names = "--partitions",
            paramLabel = "COUNT",
            description = "The new number of partitions. It cannot be reduced. "
                    + "Messages with a key can go to a different partition afterwards.")
    private Integer partitionCount;

    @Option(names = "--config", paramLabel = "KEY=VALUE", description = "Sets a configuration. Can be repeated.")
    private Map<String, String> configs = new LinkedHashMap<>();

    @Option(
            names = "--unset",
            paramLabel = "KEY",
            description = "Resets a configuration to the broker's default. Can be repeated.")
    private List<String> unset = new ArrayList<>();

    @Override
    protected void execute() {
        if (partitionCount == null && configs.isEmpty() && unset.isEmpty()) {
            throw wrongUsage("specify a change: --partitions, --config or --unset");
        }
        List<ConfigChange> changes = ConfigsCommand.changes(configs, unset);
        try (Admin admin = openAdmin()) {
            if (!changes.isEmpty()) {
                refuseFewerPartitions(admin);
                ConfigsCommand.checkKeys(admin, ConfigResource.topic(name), unset);
                admin.alterConfigs(ConfigResource.topic(name), changes);
            }
            if (partitionCount != null) {
                createPartitions(admin, !changes.isEmpty());
            }
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("topic", name);
        json.put("altered", true);
        report("altered topic " + name, json);
    }

    /** Before anything is changed: a shorter retention, for example, deletes messages at once. */
    private void refuseFewerPartitions(Admin admin) {
        if (partitionCount == null) {
            return;
        }
        int count = admin.describeTopics(List.of(name)).get(name).partitions().size();
        if (partitionCount <= count) {
            throw new CommandFailure("topic " + name + " has " + Quantity.count(count, "partition")
                    + ", and their number can only grow; nothing was changed");
        }
    }

    private void createPartitions(Admin admin, boolean afterConfigs) {
        try {
            admin.createPartitions(name, partitionCount);
        } catch (JournalQException failed) {
            if (!afterConfigs) {
                throw failed;
            }
            throw new CommandFailure(
                    "the configurations were changed, but not the number of partitions: " + failed.getMessage());
        }
    }
}
