package io.journalq.cli.topic;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.client.Admin;
import io.journalq.client.error.UnknownTopicException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq topics delete}. */
@Command(
        name = "delete",
        description = "Deletes topics with all their messages, at once and for good.",
        footerHeading = "%nExamples:%n",
        footer = {"  journalq topics delete orders", "  journalq topics delete orders audit --if-exists"})
final class DeleteTopicsCommand extends ClientCommand {
    @Parameters(arity = "1..*", paramLabel = "NAME", description = "Names of the topics.")
    private List<String> names;

    @Option(names = "--if-exists", description = "A topic that does not exist is no error.")
    private boolean ifExists;

    @Override
    protected void execute() {
        List<Map<String, Object>> results = new ArrayList<>();
        try (Admin admin = openAdmin()) {
            for (String name : names) {
                boolean deleted = delete(admin, name);
                if (!wantsJson()) {
                    terminal().printLine((deleted ? "deleted topic " : "no such topic: ") + name);
                }
                Map<String, Object> result = new LinkedHashMap<>();
                result.put("topic", name);
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
            admin.deleteTopics(List.of(name));
            return true;
        } catch (UnknownTopicException unknown) {
            if (ifExists) {
                return false;
            }
            throw new CommandFailure("there is no topic " + name + "; journalq topics list shows those there are");
        }
    }
}
