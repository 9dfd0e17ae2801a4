package io.journalq.cli.cluster;

import io.journalq.cli.shell.CommandGroup;
import picocli.CommandLine.Command;

/** {@code journalq cluster}. */
@Command(
        name = "cluster",
        description =
                "Shows and operates the cluster. Commands that change it show the changes first; --execute applies"
                        + " them.",
        subcommands = {
            DescribeClusterCommand.class,
            ReplicateCommand.class,
            ReassignCommand.class,
            DrainCommand.class,
            RemoveCommand.class,
            ElectCommand.class,
            QuorumCommand.class,
            VerifyReplicasCommand.class,
            AddVoterCommand.class,
            RemoveVoterCommand.class
        })
public final class ClusterCommand extends CommandGroup {}
