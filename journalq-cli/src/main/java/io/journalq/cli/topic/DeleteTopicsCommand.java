package io.journalq.cli.topic;

import io.journalq.cli.shell.DeleteCommand;
import io.journalq.client.Admin;
import io.journalq.client.error.UnknownTopicException;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code journalq topics delete}. */
@Command(
        name = "delete",
        description = "Deletes topics with all their messages. This takes effect immediately and cannot be undone.",
        footerHeading = "%nExamples:%n",
        footer = {"  journalq topics delete orders", "  journalq topics delete orders audit --if-exists"})
final class DeleteTopicsCommand extends DeleteCommand {
    DeleteTopicsCommand() {
        super("topic");
    }

    @Override
    protected boolean delete(Admin admin, String name) {
        try {
            admin.deleteTopics(List.of(name));
            return true;
        } catch (UnknownTopicException unknown) {
            return false;
        }
    }
}
