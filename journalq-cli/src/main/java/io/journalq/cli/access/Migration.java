package io.journalq.cli.access;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.client.Admin;
import io.journalq.client.admin.AclBinding;
import io.journalq.client.admin.AclBinding.Operation;
import io.journalq.client.admin.AclBinding.PatternType;
import io.journalq.client.admin.AclBinding.Permission;
import io.journalq.client.admin.AclBinding.ResourceType;
import io.journalq.client.admin.AclFilter;
import io.journalq.client.admin.UserDescription;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Copies the rights of one cluster to another, of JournalQ or Kafka. */
final class Migration {
    private static final int BATCH = 500;

    /** What only Kafka has: delegation tokens, and who may create them for whom. */
    private static final Set<ResourceType> OF_TOKENS = EnumSet.of(ResourceType.DELEGATION_TOKEN, ResourceType.USER);

    private Migration() {}

    /** {@code journalq access export}. */
    @Command(
            name = "export",
            description = {
                "Writes all ACLs of a cluster, and the names of its users, as JSON for journalq access import. The"
                        + " cluster may be one of Kafka.",
                "Brokers do not return the keys of passwords. To take over passwords from Kafka, use journalq-server"
                        + " users import."
            },
            footerHeading = "%nExamples:%n",
            footer = "  journalq access export > access.json")
    static final class Export extends ClientCommand {
        @Override
        protected void execute() {
            Map<String, Object> json = new LinkedHashMap<>();
            try (Admin admin = openAdmin()) {
                json.put(
                        "acls",
                        admin.describeAcls(AclFilter.EVERY_ACL).stream()
                                .map(AccessCommand::json)
                                .toList());
                json.put(
                        "users",
                        admin.describeUsers().stream().map(Export::json).toList());
            }
            terminal().printLine(Json.document(json));
        }

        private static Map<String, Object> json(UserDescription user) {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("user", user.name());
            json.put("iterations", new TreeMap<>(user.iterations()));
            return json;
        }
    }

    /** {@code journalq access import}. */
    @Command(
            name = "import",
            description = {
                "Adds the ACLs in a file that journalq access export has written. ACLs that exist stay as they are. ACLs"
                        + " for delegation tokens, which JournalQ does not have, are left out.",
                "Names the users of the file that do not exist here. Their passwords are not in the file."
            },
            footerHeading = "%nExamples:%n",
            footer = {"  journalq access import access.json --dry-run", "  journalq access import access.json"})
    static final class Import extends ClientCommand {
        @Parameters(paramLabel = "FILE", description = "File that journalq access export has written.")
        private Path file;

        @Option(names = "--dry-run", description = "Says what would be added, and changes nothing.")
        private boolean dryRun;

        @Override
        protected void execute() {
            Exported exported = Exported.read(file);
            List<AclBinding> unknown = exported.acls().stream()
                    .filter(acl -> OF_TOKENS.contains(acl.resourceType()))
                    .toList();
            List<AclBinding> added = new ArrayList<>(exported.acls());
            added.removeAll(unknown);
            Set<String> missing = new TreeSet<>(exported.users());
            int present;
            try (Admin admin = openAdmin()) {
                Set<AclBinding> known = new HashSet<>(admin.describeAcls(AclFilter.EVERY_ACL));
                added.removeIf(known::contains);
                present = exported.acls().size() - unknown.size() - added.size();
                for (int i = 0; !dryRun && i < added.size(); i += BATCH) {
                    admin.createAcls(added.subList(i, Math.min(added.size(), i + BATCH)));
                }
                admin.describeUsers().forEach(user -> missing.remove(user.name()));
            }
            unknown.forEach(acl -> terminal().tell("left out: " + acl + ": JournalQ has no delegation tokens"));
            missing.forEach(user -> terminal()
                    .tell("not imported: user " + user + ": brokers do not return the keys of passwords; use"
                            + " journalq-server users import, or add the user with a new password"));
            Map<String, Object> json = new LinkedHashMap<>();
            json.put(dryRun ? "wouldAdd" : "added", added.size());
            json.put("existed", present);
            json.put("leftOut", unknown.size());
            json.put("missingUsers", List.copyOf(missing));
            report(
                    (dryRun ? "would add " : "added ") + Quantity.count(added.size(), "ACL") + "; " + present
                            + " existed, " + unknown.size() + " left out, "
                            + Quantity.count(missing.size(), "user") + " missing",
                    json);
        }
    }

    /** The content of a file. */
    private record Exported(List<AclBinding> acls, List<String> users) {
        static Exported read(Path file) {
            List<AclBinding> acls = new ArrayList<>();
            List<String> users = new ArrayList<>();
            try (JsonParser parser = Json.FACTORY.createParser(Files.readString(file))) {
                Map<String, String> fields = new LinkedHashMap<>();
                for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                    if (token == JsonToken.VALUE_STRING) {
                        fields.put(parser.currentName(), parser.getText());
                    } else if (token == JsonToken.END_OBJECT && fields.containsKey("principal")) {
                        acls.add(acl(fields));
                        fields.clear();
                    } else if (token == JsonToken.END_OBJECT && fields.containsKey("user")) {
                        users.add(fields.get("user"));
                        fields.clear();
                    }
                }
            } catch (IOException | IllegalArgumentException | NullPointerException malformed) {
                throw new CommandFailure("cannot read ACLs from " + file + ": "
                        + (malformed instanceof IOException && !Files.isReadable(file)
                                ? "there is no such file, or it is not readable"
                                : "it is not what journalq access export writes; export again"));
            }
            if (acls.isEmpty() && users.isEmpty()) {
                throw new CommandFailure(file + " contains no ACLs; write it with journalq access export");
            }
            return new Exported(acls, users);
        }

        private static AclBinding acl(Map<String, String> fields) {
            return new AclBinding(
                    ResourceType.valueOf(fields.get("resourceType")),
                    PatternType.valueOf(fields.get("patternType")),
                    fields.get("resourceName"),
                    fields.get("principal"),
                    fields.get("host"),
                    Operation.valueOf(fields.get("operation")),
                    Permission.valueOf(fields.get("permission")));
        }
    }
}
