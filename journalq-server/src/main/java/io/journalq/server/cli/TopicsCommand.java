package io.journalq.server.cli;

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
final class TopicsCommand extends CommandGroup {}
