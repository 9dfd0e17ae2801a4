package io.journalq.cli.shell;

import io.journalq.client.Admin;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A command that deletes things by their names, one after the other. */
public abstract class DeleteCommand extends ClientCommand {
    private final String kind;

    @Parameters(arity = "1..*", paramLabel = "NAME", description = "Names of what to delete.")
    private List<String> names;

    @Option(names = "--if-exists", description = "Does not fail if a name does not exist.")
    private boolean ifExists;

    /**
     * Creates a command.
     *
     * @param kind what is deleted, such as "topic"; its plural is the name of the group of commands
     */
    protected DeleteCommand(String kind) {
        this.kind = kind;
    }

    /** Deletes one thing. Returns false if it does not exist. */
    protected abstract boolean delete(Admin admin, String name);

    @Override
    protected final void execute() {
        List<Map<String, Object>> results = new ArrayList<>();
        try (Admin admin = openAdmin()) {
            for (String name : names) {
                boolean deleted = delete(admin, name);
                if (!deleted && !ifExists) {
                    throw new CommandFailure("there is no %s %s; to list all %ss, run journalq %ss list"
                            .formatted(kind, name, kind, kind));
                }
                if (!wantsJson()) {
                    terminal()
                            .printLine(Terminal.printable(
                                    (deleted ? "deleted " + kind + " " : kind + " does not exist: ") + name));
                }
                Map<String, Object> result = new LinkedHashMap<>();
                result.put(kind, name);
                result.put("deleted", deleted);
                results.add(result);
            }
        } finally {
            // Also what was done before one of the names has failed.
            if (wantsJson() && !results.isEmpty()) {
                terminal().printLine(Json.document(results));
            }
        }
    }
}
