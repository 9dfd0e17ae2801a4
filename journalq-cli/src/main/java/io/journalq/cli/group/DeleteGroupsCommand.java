package io.journalq.cli.group;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.client.Admin;
import io.journalq.client.error.UnknownGroupException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq groups delete}. */
@Command(
        name = "delete",
        description = "Deletes groups without members, and all their offsets.",
        footerHeading = "%nExamples:%n",
        footer = {"  journalq groups delete billing", "  journalq groups delete billing audit --if-exists"})
final class DeleteGroupsCommand extends ClientCommand {
    @Parameters(arity = "1..*", paramLabel = "GROUP", description = "Names of the groups.")
    private List<String> names;

    @Option(names = "--if-exists", description = "A group that does not exist is no error.")
    private boolean ifExists;

    @Override
    protected void execute() {
        List<Object> results = new ArrayList<>();
        try (Admin admin = openAdmin()) {
            for (String name : names) {
                boolean deleted = delete(admin, name);
                if (!wantsJson()) {
                    terminal().printLine((deleted ? "deleted group " : "no such group: ") + name);
                }
                Map<String, Object> result = new LinkedHashMap<>();
                result.put("group", name);
                result.put("deleted", deleted);
                results.add(result);
            }
        }
        if (wantsJson()) {
            terminal().printLine(Json.document(results));
        }
    }

    private boolean delete(Admin admin, String name) {
        try {
            admin.deleteGroup(name);
            return true;
        } catch (UnknownGroupException unknown) {
            if (ifExists) {
                return false;
            }
            throw new CommandFailure("there is no group " + name + "; journalq groups list shows those there are");
        }
    }
}
