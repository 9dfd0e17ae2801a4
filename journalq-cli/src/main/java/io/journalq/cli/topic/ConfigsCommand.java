package io.journalq.cli.topic;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.CommandGroup;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Table;
import io.journalq.client.Admin;
import io.journalq.client.admin.BrokerNode;
import io.journalq.client.admin.ConfigChange;
import io.journalq.client.admin.ConfigEntry;
import io.journalq.client.admin.ConfigResource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq configs}. */
@Command(
        name = "configs",
        description = "Shows and changes the configurations of topics, groups, brokers and client metrics.",
        subcommands = {ConfigsCommand.Describe.class, ConfigsCommand.Set.class, ConfigsCommand.Unset.class})
public final class ConfigsCommand extends CommandGroup {
    /** The changes that options name: values to set, and keys to return to their defaults. */
    static List<ConfigChange> changes(Map<String, String> set, List<String> unset) {
        List<ConfigChange> changes = new ArrayList<>();
        set.forEach((key, value) -> changes.add(ConfigChange.set(key, value)));
        unset.forEach(key -> changes.add(ConfigChange.delete(key)));
        return changes;
    }

    /**
     * Refuses keys that the resource does not have. The broker ignores them, as Kafka does, so that a misspelt key would
     * stay set without a word.
     */
    static void checkKeys(Admin admin, ConfigResource resource, List<String> unset) {
        boolean showsAllKeys =
                resource.type() == ConfigResource.Type.TOPIC || resource.type() == ConfigResource.Type.GROUP;
        if (unset.isEmpty() || !showsAllKeys) {
            return;
        }
        List<String> known = admin.describeConfigs(List.of(resource)).get(resource).stream()
                .map(ConfigEntry::name)
                .toList();
        for (String key : unset) {
            if (!known.contains(key)) {
                throw new CommandFailure(
                        resource + " has no configuration " + key + "; to list all, run journalq configs describe");
            }
        }
    }

    private static final String EVERY_BROKER = "all";

    /** The resource whose configurations are meant: exactly one of the options. */
    static final class Resource {
        @Option(names = "--topic", required = true, paramLabel = "NAME", description = "Configurations of this topic.")
        private String topic;

        @Option(
                names = "--broker",
                required = true,
                paramLabel = "ID",
                description = "Configurations of the broker with this id, or of '" + EVERY_BROKER + "'.")
        private String broker;

        @Option(
                names = "--group",
                required = true,
                paramLabel = "ID",
                description = "Configurations of this consumer group.")
        private String group;

        @Option(
                names = "--client-metrics",
                required = true,
                paramLabel = "NAME",
                description = "Configurations of this client metrics subscription (KIP-714).")
        private String clientMetrics;

        /** Returns the resource. A broker must exist: a client would wait for it until its call times out. */
        private ConfigResource resource(Admin admin) {
            if (topic != null) {
                return ConfigResource.topic(topic);
            }
            if (group != null) {
                return ConfigResource.group(group);
            }
            if (clientMetrics != null) {
                return new ConfigResource(ConfigResource.Type.CLIENT_METRICS, clientMetrics);
            }
            if (broker.equals(EVERY_BROKER)) {
                return new ConfigResource(ConfigResource.Type.BROKER, "");
            }
            List<Integer> ids = admin.describeCluster().brokers().stream()
                    .map(BrokerNode::id)
                    .toList();
            if (!ids.contains(Integer.parseInt(broker))) {
                throw new CommandFailure("there is no broker " + broker + " in the cluster; its brokers are "
                        + String.join(", ", ids.stream().map(String::valueOf).toList()));
            }
            return ConfigResource.broker(Integer.parseInt(broker));
        }

        /** Validates the options before a request is sent. */
        private void check(ClientCommand command) {
            if (broker != null && !broker.equals(EVERY_BROKER) && !broker.matches("\\d{1,9}")) {
                throw command.wrongUsage("--broker must be the number of a broker or '" + EVERY_BROKER + "'");
            }
        }
    }

    /** {@code journalq configs describe}. */
    @Command(
            name = "describe",
            description = "Shows the effective configurations, and the origin of each value.",
            footerHeading = "%nExamples:%n",
            footer = {"  journalq configs describe --topic orders", "  journalq configs describe --broker 0 --changed"})
    static final class Describe extends ClientCommand {
        @ArgGroup(multiplicity = "1")
        private Resource named;

        @Option(names = "--changed", description = "Shows only values that differ from their defaults.")
        private boolean changed;

        @Override
        protected void execute() {
            named.check(this);
            List<ConfigEntry> entries;
            try (Admin admin = openAdmin()) {
                ConfigResource resource = named.resource(admin);
                entries = admin.describeConfigs(List.of(resource)).get(resource).stream()
                        .filter(entry -> !changed || !entry.isDefault())
                        .toList();
            }
            if (wantsJson()) {
                List<Object> json = new ArrayList<>();
                entries.forEach(entry -> json.add(jsonOf(entry)));
                terminal().printLine(Json.document(json));
                return;
            }
            Table table = new Table("NAME", "VALUE", "SOURCE");
            entries.forEach(entry -> table.row(
                    entry.name(),
                    entry.sensitive() ? "(hidden)" : SettingText.of(entry.name(), entry.value()),
                    words(entry.source())));
            table.printTo(terminal());
        }

        private static String words(ConfigEntry.Source source) {
            return source.name().toLowerCase(Locale.ROOT).replace('_', ' ').replace(" config", "");
        }

        private static Map<String, Object> jsonOf(ConfigEntry entry) {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("name", entry.name());
            json.put("value", entry.value());
            json.put("source", entry.source());
            json.put("readOnly", entry.readOnly());
            json.put("sensitive", entry.sensitive());
            if (entry.documentation() != null) {
                json.put("documentation", entry.documentation());
            }
            return json;
        }
    }

    /** {@code journalq configs set}. */
    @Command(
            name = "set",
            description = "Sets configurations. Takes effect immediately and persists across restarts.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  journalq configs set --topic orders retention.ms=1d segment.bytes=256MiB",
                "  journalq configs set --group billing consumer.session.timeout.ms=60s",
                "  journalq configs set --broker all retention.ms=1d",
                "  journalq configs set --client-metrics slow interval.ms=30s"
            })
    static final class Set extends ClientCommand {
        @ArgGroup(multiplicity = "1")
        private Resource named;

        @Parameters(arity = "1..*", paramLabel = "KEY=VALUE", description = "Configurations to set.")
        private Map<String, String> values;

        @Override
        protected void execute() {
            change(this, named, changes(values, List.of()));
        }
    }

    /** {@code journalq configs unset}. */
    @Command(
            name = "unset",
            description = "Resets configurations to their defaults.",
            footerHeading = "%nExamples:%n",
            footer = "  journalq configs unset --topic orders retention.ms")
    static final class Unset extends ClientCommand {
        @ArgGroup(multiplicity = "1")
        private Resource named;

        @Parameters(arity = "1..*", paramLabel = "KEY", description = "Configurations to reset.")
        private List<String> keys;

        @Override
        protected void execute() {
            change(this, named, changes(Map.of(), keys));
        }
    }

    private static void change(ClientCommand command, Resource named, List<ConfigChange> changes) {
        named.check(command);
        ConfigResource resource;
        try (Admin admin = command.openAdmin()) {
            resource = named.resource(admin);
            checkKeys(
                    admin,
                    resource,
                    changes.stream()
                            .filter(change -> change.operation() == ConfigChange.Operation.DELETE)
                            .map(ConfigChange::name)
                            .toList());
            admin.alterConfigs(resource, changes);
        }
        List<Object> json = new ArrayList<>();
        StringBuilder sentence = new StringBuilder("changed " + resource + ":");
        for (ConfigChange change : changes) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", change.name());
            one.put("value", change.value());
            json.add(one);
            sentence.append(' ').append(change.name());
            sentence.append(change.value() == null ? " reset to its default" : "=" + change.value());
        }
        command.report(sentence.toString(), json);
    }
}
