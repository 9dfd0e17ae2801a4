package io.journalq.cli.access;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.CommandGroup;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.Admin;
import io.journalq.client.admin.AclBinding;
import io.journalq.client.admin.AclBinding.Operation;
import io.journalq.client.admin.AclBinding.PatternType;
import io.journalq.client.admin.AclBinding.Permission;
import io.journalq.client.admin.AclBinding.ResourceType;
import io.journalq.client.admin.AclFilter;
import io.journalq.server.security.AuditChain;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq access}. */
@Command(
        name = "access",
        description = "Lists, changes and copies access control lists (ACLs), explains decisions by them, and checks"
                + " the audit log.",
        subcommands = {
            AccessCommand.ListAll.class,
            AccessCommand.Grant.class,
            AccessCommand.Revoke.class,
            Migration.Export.class,
            Migration.Import.class,
            ExplainCommand.class,
            AccessCommand.VerifyAudit.class
        })
public final class AccessCommand extends CommandGroup {
    static Map<String, Object> json(AclBinding acl) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("permission", acl.permission().name());
        json.put("operation", acl.operation().name());
        json.put("resourceType", acl.resourceType().name());
        json.put("patternType", acl.patternType().name());
        json.put("resourceName", acl.resourceName());
        json.put("principal", acl.principal());
        json.put("host", acl.host());
        return json;
    }

    private static Object json(List<AclBinding> acls) {
        return acls.stream().map(AccessCommand::json).toList();
    }

    /** {@code journalq access list}. */
    @Command(
            name = "list",
            description = "Lists ACLs. With a resource, lists all that apply to it: those of its name, of its prefixes,"
                    + " and of '*'.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  journalq access list",
                "  journalq access list --topic orders",
                "  journalq access list --principal ada --output json"
            })
    static final class ListAll extends ClientCommand {
        @Mixin
        private ResourceOptions options;

        @Override
        protected void execute() {
            List<Operation> operations = options.operations(this);
            AclFilter filter = new AclFilter(
                    options.type(),
                    options.type() == null ? AclFilter.Match.ANY : AclFilter.Match.APPLICABLE,
                    options.name(),
                    options.principal(),
                    options.host(),
                    null,
                    null);
            List<AclBinding> found;
            try (Admin admin = openAdmin()) {
                found = admin.describeAcls(filter).stream()
                        .filter(acl -> operations.isEmpty() || operations.contains(acl.operation()))
                        .toList();
            }
            if (wantsJson()) {
                terminal().printLine(Json.document(json(found)));
                return;
            }
            Table table = new Table("RULE", "OPERATION", "RESOURCE", "NAME", "PRINCIPAL", "HOST");
            found.forEach(acl -> table.row(
                    acl.permission(),
                    acl.operation(),
                    acl.resourceType(),
                    acl.resourceName() + (acl.patternType() == PatternType.PREFIXED ? " (prefix)" : ""),
                    acl.principal(),
                    acl.host()));
            table.printTo(terminal());
        }
    }

    /** A command that changes the ACLs of one user on one resource. */
    abstract static class Change extends ClientCommand {
        @Mixin
        private ResourceOptions options;

        @Option(names = "--prefix", description = "All resources whose names begin with the name.")
        private boolean prefix;

        ResourceOptions options() {
            return options;
        }

        PatternType pattern() {
            return prefix ? PatternType.PREFIXED : PatternType.LITERAL;
        }

        /** Checks what both commands need. */
        List<Operation> check() {
            options.require(this);
            if (prefix && options.type() == ResourceType.CLUSTER) {
                throw wrongUsage("--cluster and --prefix are mutually exclusive");
            }
            return options.operations(this);
        }
    }

    /** {@code journalq access grant}. */
    @Command(
            name = "grant",
            description = "Adds ACLs that allow operations to a user, or deny them with --deny. Without --host, from"
                    + " all hosts.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  journalq access grant --principal ada --operation write --topic orders",
                "  journalq access grant --principal ada --operation all --prefix --topic a.",
                "  journalq access grant --principal ada --operation read --group billing",
                "  journalq access grant --principal eve --operation all --topic '*' --deny"
            })
    static final class Grant extends Change {
        @Option(names = "--deny", description = "Denies the operations. This wins over all that allow them.")
        private boolean deny;

        @Override
        protected void execute() {
            List<Operation> operations = check();
            if (operations.isEmpty()) {
                throw wrongUsage("--operation is missing");
            }
            List<AclBinding> acls = operations.stream()
                    .map(operation -> new AclBinding(
                            options().type(),
                            pattern(),
                            options().name(),
                            options().principal(),
                            options().host() == null
                                    ? AclBinding.EVERY
                                    : options().host(),
                            operation,
                            deny ? Permission.DENY : Permission.ALLOW))
                    .toList();
            try (Admin admin = openAdmin()) {
                admin.createAcls(acls);
            }
            if (wantsJson()) {
                terminal().printLine(Json.document(json(acls)));
            } else {
                acls.forEach(acl -> terminal().printLine(Terminal.printable("added: " + acl)));
            }
        }
    }

    /** {@code journalq access revoke}. */
    @Command(
            name = "revoke",
            description = "Removes ACLs that allow operations to a user, or with --deny those that deny them. Without"
                    + " --operation, of all operations. Without --host, of all hosts. ACLs of other prefixes, of '*'"
                    + " and of User:* stay.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  journalq access revoke --principal ada --operation write --topic orders",
                "  journalq access revoke --principal eve --topic '*' --deny"
            })
    static final class Revoke extends Change {
        @Option(names = "--deny", description = "Removes ACLs that deny.")
        private boolean deny;

        @Override
        protected void execute() {
            List<Operation> operations = new ArrayList<>(check());
            if (operations.isEmpty()) {
                operations.add(null);
            }
            List<AclFilter> filters = operations.stream()
                    .map(operation -> new AclFilter(
                            options().type(),
                            AclFilter.Match.of(pattern()),
                            options().name(),
                            options().principal(),
                            options().host(),
                            operation,
                            deny ? Permission.DENY : Permission.ALLOW))
                    .toList();
            List<AclBinding> removed;
            try (Admin admin = openAdmin()) {
                removed = admin.deleteAcls(filters);
            }
            if (removed.isEmpty()) {
                throw new CommandFailure("there is no such ACL; to list those that apply, run journalq access list "
                        + ResourceOptions.text(
                                options().type(), PatternType.LITERAL, options().name()));
            }
            if (wantsJson()) {
                terminal().printLine(Json.document(json(removed)));
            } else {
                removed.forEach(acl -> terminal().printLine(Terminal.printable("removed: " + acl)));
            }
        }
    }

    /** {@code journalq access verify-audit}. */
    @Command(
            name = "verify-audit",
            description = {
                "Checks the hash chain of the audit log (journalq.audit) in log files: whether lines were changed,"
                        + " removed, moved or added in between. The files are read in the order given, the oldest first;"
                        + " other lines in them are ignored.",
                "The chain has no secret. To notice that a whole log was written again or that its end was cut off,"
                        + " keep the newest hash on another machine and pass it as --known-hash."
            },
            footerHeading = "%nExamples:%n",
            footer = "  journalq access verify-audit audit.log")
    static final class VerifyAudit extends ClientCommand {
        private static final int MAX_PROBLEMS = 10;

        @Parameters(arity = "1..*", paramLabel = "FILE", description = "Log files, the oldest first.")
        private List<Path> files;

        @Option(names = "--known-hash", paramLabel = "HASH", description = "Fails if no line has this hash.")
        private String knownHash;

        @Override
        protected void execute() throws IOException {
            AuditChain chain = new AuditChain();
            long events = 0;
            boolean known = knownHash == null;
            List<String> problems = new ArrayList<>();
            for (Path file : files) {
                try (BufferedReader lines = new BufferedReader(
                        // A log may contain bytes of other programs.
                        new InputStreamReader(Files.newInputStream(file), StandardCharsets.UTF_8))) {
                    long number = 0;
                    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                        number++;
                        if (!AuditChain.isEvent(line)) {
                            continue;
                        }
                        events++;
                        String problem = chain.check(line);
                        if (problem != null) {
                            problems.add(file + ":" + number + ": " + problem);
                        }
                        known |= chain.hash().equalsIgnoreCase(knownHash);
                    }
                }
            }
            if (!known) {
                problems.add(
                        "no line has the hash " + knownHash + "; the log was written again, or its end is missing");
            }
            if (events == 0) {
                throw new CommandFailure("no line of the audit log is in " + files.get(0)
                        + (files.size() == 1 ? "" : " or the other files")
                        + "; pass the files to which logger journalq.audit writes");
            }
            for (String problem : problems.subList(0, Math.min(MAX_PROBLEMS, problems.size()))) {
                terminal().tell(problem);
            }
            if (!problems.isEmpty()) {
                throw new CommandFailure("the audit log is not intact: "
                        + Quantity.count(problems.size(), "problem") + " in " + Quantity.count(events, "event")
                        + "; look for the lines in a copy on another machine");
            }
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("events", events);
            json.put("newestSeq", chain.seq());
            json.put("newestHash", chain.hash());
            report(
                    "the audit log is intact: " + Quantity.count(events, "event") + "; the newest has seq "
                            + chain.seq() + " and the hash " + chain.hash(),
                    json);
        }
    }
}
