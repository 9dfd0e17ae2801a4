package io.journalq.cli.group;

import io.journalq.cli.shell.CommandGroup;
import io.journalq.cli.shell.DeleteCommand;
import io.journalq.client.Admin;
import io.journalq.client.error.UnknownGroupException;
import picocli.CommandLine.Command;

/** {@code journalq groups}. */
@Command(
        name = "groups",
        description = "Lists and describes consumer groups, shows their lag, and changes their offsets.",
        subcommands = {
            ListGroupsCommand.class,
            DescribeGroupsCommand.class,
            GroupLagCommand.class,
            ResetOffsetsCommand.class,
            GroupsCommand.Delete.class
        })
public final class GroupsCommand extends CommandGroup {
    /** {@code journalq groups delete}. */
    @Command(
            name = "delete",
            description = "Deletes groups that have no members, with all their committed offsets.",
            footerHeading = "%nExamples:%n",
            footer = {"  journalq groups delete billing", "  journalq groups delete billing audit --if-exists"})
    static final class Delete extends DeleteCommand {
        Delete() {
            super("group");
        }

        @Override
        protected boolean delete(Admin admin, String name) {
            try {
                admin.deleteGroup(name);
                return true;
            } catch (UnknownGroupException unknown) {
                return false;
            }
        }
    }
}
