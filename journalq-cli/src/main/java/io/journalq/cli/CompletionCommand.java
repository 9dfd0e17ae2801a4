package io.journalq.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code journalq completion}. */
@Command(
        name = "completion",
        description = "Prints a script that completes commands and options in bash and zsh.",
        footerHeading = "%nExamples:%n",
        footer = {"  source <(journalq completion)", "  journalq completion > /etc/bash_completion.d/journalq"})
final class CompletionCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        JournalqCommand program = (JournalqCommand) spec.root().userObject();
        program.terminal()
                .printLine(AutoComplete.bash(spec.root().name(), spec.root().commandLine()));
    }
}
