package io.journalq.cli.topic;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.client.Admin;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.error.TopicExistsException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq topics create}. */
@Command(
        name = "create",
        description = "Creates one or more topics.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq topics create orders --partitions 200",
            "  journalq topics create audit --config retention.ms=7d --partitions 1"
        })
final class CreateTopicsCommand extends ClientCommand {
    @Parameters(arity = "1..*", paramLabel = "NAME", description = "Names of the topics.")
    private List<String> names;

    @Option(
            names = "--partitions",
            paramLabel = "COUNT",
            description = "Number of partitions (default: the broker's num.partitions).")
    private Integer partitionCount;

    @Option(
            names = "--replication-factor",
            paramLabel = "COUNT",
            description = "Number of replicas of each partition (default: the broker's default).")
    private int replicationFactor = NewTopic.BROKER_DEFAULT;

    @Option(names = "--config", paramLabel = "KEY=VALUE", description = "Topic configuration. Can be repeated.")
    private Map<String, String> configs = new LinkedHashMap<>();

    @Option(names = "--if-not-exists", description = "Does not fail if a topic exists, and does not change it.")
    private boolean ifNotExists;

    @Override
    protected void execute() {
        if (partitionCount != null && partitionCount < 1) {
            throw wrongUsage("--partitions must be 1 or more");
        }
        List<Map<String, Object>> results = new ArrayList<>();
        try (Admin admin = openAdmin()) {
            for (String name : names) {
                boolean created = create(admin, name);
                if (!wantsJson()) {
                    terminal().printLine((created ? "created topic " : "topic already exists: ") + name);
                }
                Map<String, Object> result = new LinkedHashMap<>();
                result.put("topic", name);
                result.put("created", created);
                results.add(result);
            }
        } finally {
            // Also what was done before one of the names has failed.
            if (wantsJson() && !results.isEmpty()) {
                terminal().printLine(Json.document(results));
            }
        }
    }

    private boolean create(Admin admin, String name) {
        try {
            int partitions = partitionCount == null ? NewTopic.BROKER_DEFAULT : partitionCount;
            admin.createTopic(new NewTopic(name, partitions, replicationFactor, configs));
            return true;
        } catch (TopicExistsException exists) {
            if (ifNotExists) {
                return false;
            }
            throw new CommandFailure(
                    "topic " + name + " already exists; use it, or add --if-not-exists to ignore this");
        }
    }
}
