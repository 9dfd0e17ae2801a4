package io.journalq.cli.topic;

import io.journalq.cli.shell.CommandGroup;
import io.journalq.cli.shell.DeleteCommand;
import io.journalq.client.Admin;
import io.journalq.client.error.UnknownTopicException;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code journalq topics}. */
@Command(
        name = "topics",
        description = "Creates, lists, describes, alters and deletes topics.",
        subcommands = {
            CreateTopicsCommand.class,
            ListTopicsCommand.class,
            DescribeTopicsCommand.class,
            AlterTopicCommand.class,
            TopicsCommand.Delete.class
        })
public final class TopicsCommand extends CommandGroup {
    /** {@code journalq topics delete}. */
    @Command(
            name = "delete",
            description = "Deletes topics with all their messages. This takes effect immediately and cannot be undone.",
            footerHeading = "%nExamples:%n",
            footer = {"  journalq topics delete orders", "  journalq topics delete orders audit --if-exists"})
    static final class Delete extends DeleteCommand {
        Delete() {
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
}
