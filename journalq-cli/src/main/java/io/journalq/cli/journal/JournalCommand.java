package io.journalq.cli.journal;

import io.journalq.cli.shell.CommandGroup;
import picocli.CommandLine.Command;

/** {@code journalq journal}. */
@Command(
        name = "journal",
        description = "Checks, shows and mends the files of a broker that does not run.",
        subcommands = {VerifyCommand.class, DumpCommand.class, RepairCommand.class})
public final class JournalCommand extends CommandGroup {}
