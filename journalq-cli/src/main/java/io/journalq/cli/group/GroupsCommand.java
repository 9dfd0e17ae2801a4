package io.journalq.cli.group;

import io.journalq.cli.shell.CommandGroup;
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
            DeleteGroupsCommand.class
        })
public final class GroupsCommand extends CommandGroup {}
