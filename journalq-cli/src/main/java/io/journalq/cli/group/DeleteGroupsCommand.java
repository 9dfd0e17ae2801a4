package io.journalq.cli.group;

import io.journalq.cli.shell.DeleteCommand;
import io.journalq.client.Admin;
import io.journalq.client.error.UnknownGroupException;
import picocli.CommandLine.Command;

/** {@code journalq groups delete}. */
@Command(
        name = "delete",
        description = "Deletes groups that have no members, with all their committed offsets.",
        footerHeading = "%nExamples:%n",
        footer = {"  journalq groups delete billing", "  journalq groups delete billing audit --if-exists"})
final class DeleteGroupsCommand extends DeleteCommand {
    DeleteGroupsCommand() {
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
