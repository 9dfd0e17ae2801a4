package io.journalq.cli.topic;

import io.journalq.cli.shell.CommandGroup;
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
            DeleteTopicsCommand.class
        })
public final class TopicsCommand extends CommandGroup {}
