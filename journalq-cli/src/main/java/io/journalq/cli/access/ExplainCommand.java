package io.journalq.cli.access;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.Admin;
import io.journalq.client.admin.AclBinding;
import io.journalq.client.admin.AclBinding.Operation;
import io.journalq.client.admin.AclBinding.ResourceType;
import io.journalq.client.admin.AclFilter;
import io.journalq.client.admin.BrokerNode;
import io.journalq.client.admin.ConfigEntry;
import io.journalq.client.admin.ConfigResource;
import io.journalq.client.error.JournalQException;
import io.journalq.server.security.AuditChain;
import io.journalq.server.security.Authorizer.Asker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq access explain}. */
@Command(
        name = "explain",
        description = {
            "Says whether a user may perform an operation on a resource, which rule decides, which ACLs nearly apply,"
                    + " and what is missing. The decision is computed from the ACLs as the broker computes it.",
            "With --event, explains an event of the audit log: why a broker refused a request or a login. The client"
                    + " got the id of the event instead of the reason. Everything else is read from --audit-log. The"
                    + " decision on rights is that of today's ACLs."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq access explain --principal ada --operation write --topic orders",
            "  journalq access explain --event 9a3f51c07be2d684 --audit-log audit.log"
        })
final class ExplainCommand extends ClientCommand {
    @Mixin
    private ResourceOptions options;

    @Option(names = "--event", paramLabel = "ID", description = "The id of an event of the audit log.")
    private String event;

    @Option(names = "--audit-log", paramLabel = "FILE", description = "The file with the event.")
    private Path auditLog;

    @Override
    protected void execute() throws IOException {
        if ((event == null) != (auditLog == null)) {
            throw wrongUsage("--event and --audit-log belong together");
        }
        Map<String, String> logged = null;
        Explanation.Question question;
        if (event != null) {
            if (options.type() != null || options.principal() != null) {
                throw wrongUsage("--event is mutually exclusive with --principal and a resource");
            }
            logged = event();
            if (logged.containsKey("mechanism")) {
                explainLogin(logged);
                return;
            }
            question = question(logged);
        } else {
            options.require(this);
            List<Operation> operations = options.operations(this);
            if (operations.size() != 1 || operations.get(0) == Operation.ALL) {
                throw wrongUsage("--operation must be one operation, and not 'all'");
            }
            question = new Explanation.Question(
                    options.principal(),
                    options.host() == null ? "" : Asker.hostNamed(options.host()),
                    operations.get(0),
                    options.type(),
                    options.name());
        }
        Explanation explanation;
        try (Admin admin = openAdmin()) {
            // Near misses are ACLs of other names, too.
            List<AclBinding> acls = admin.describeAcls(
                    new AclFilter(question.type(), AclFilter.Match.ANY, null, null, null, null, null));
            explanation = Explanation.of(question, acls, settings(admin));
        }
        if (wantsJson()) {
            Map<String, Object> json = explanation.json();
            json.put("event", logged);
            terminal().printLine(Json.document(json));
            return;
        }
        if (logged != null) {
            print("event " + event + " at " + logged.get("time") + ": " + logged.get("result") + " by "
                    + logged.get("rule") + " (" + logged.get("api") + ")");
        }
        explanation.lines().forEach(this::print);
    }

    /** Prints a line, which can contain what a client has sent. */
    private void print(String line) {
        terminal().printLine(Terminal.printable(line));
    }

    /** Says why a login was refused. There is nothing to compute. */
    private void explainLogin(Map<String, String> logged) {
        if (wantsJson()) {
            terminal().printLine(Json.document(Map.of("event", logged)));
            return;
        }
        print("event " + event + " at " + logged.get("time") + ": login refused (" + logged.get("api") + ", "
                + logged.get("mechanism") + ")");
        print("the client at " + logged.get("host") + " claimed to be " + logged.get("principal") + ": "
                + logged.get("reason"));
    }

    /** The settings of one broker; null if this client may not see them. */
    private static Map<String, String> settings(Admin admin) {
        try {
            // Without a quorum for long, all are fenced, and still respond.
            List<BrokerNode> brokers = admin.describeCluster().brokers();
            BrokerNode chosen =
                    brokers.stream().filter(node -> !node.fenced()).findFirst().orElse(brokers.get(0));
            ConfigResource broker = ConfigResource.broker(chosen.id());
            Map<String, String> settings = new HashMap<>();
            for (ConfigEntry entry : admin.describeConfigs(List.of(broker)).get(broker)) {
                settings.put(entry.name(), entry.value());
            }
            return settings;
        } catch (JournalQException notShown) {
            return null;
        }
    }

    /** The fields of the event. */
    private Map<String, String> event() throws IOException {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(Files.newInputStream(auditLog), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Map<String, String> fields = AuditChain.isEvent(line) ? fields(AuditChain.event(line)) : Map.of();
                if (event.equals(fields.get("event"))) {
                    return fields;
                }
            }
        }
        throw new CommandFailure("no event in " + auditLog + " has the id " + event
                + "; look at the log of each broker, because the one that decided has it");
    }

    private static Map<String, String> fields(String json) {
        Map<String, String> fields = new LinkedHashMap<>();
        try (JsonParser parser = Json.FACTORY.createParser(json)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                parser.nextToken();
                fields.put(name, parser.getText());
            }
        } catch (IOException damaged) {
            return Map.of();
        }
        return fields;
    }

    private Explanation.Question question(Map<String, String> fields) {
        try {
            return new Explanation.Question(
                    fields.getOrDefault("principal", ""),
                    fields.getOrDefault("host", ""),
                    Operation.valueOf(fields.getOrDefault("operation", "")),
                    ResourceType.valueOf(fields.getOrDefault("resourceType", "")),
                    fields.getOrDefault("resourceName", ""));
        } catch (IllegalArgumentException unknown) {
            throw new CommandFailure("event " + event + " in " + auditLog
                    + " has no operation and resource that this program knows; check the file with journalq access"
                    + " verify-audit");
        }
    }
}
