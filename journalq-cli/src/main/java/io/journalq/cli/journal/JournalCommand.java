package io.journalq.cli.journal;

import io.journalq.cli.shell.CommandGroup;
import picocli.CommandLine.Command;

/** {@code journalq journal}. */
@Command(
        name = "journal",
        description = "Verifies, prints and repairs the files of a stopped broker.",
        subcommands = {VerifyCommand.class, DumpCommand.class, RepairCommand.class})
public final class JournalCommand extends CommandGroup {}
