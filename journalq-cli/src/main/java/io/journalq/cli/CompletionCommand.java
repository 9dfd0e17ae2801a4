package io.journalq.cli;

import io.journalq.cli.shell.Program;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code journalq completion} and {@code journalq-server completion}. */
@Command(
        name = "completion",
        description = "Prints a script that completes commands and options in bash and zsh.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  source <(${ROOT-COMMAND-NAME} completion)",
            "  ${ROOT-COMMAND-NAME} completion > /etc/bash_completion.d/${ROOT-COMMAND-NAME}"
        })
final class CompletionCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        Program program = (Program) spec.root().userObject();
        program.terminal()
                .printLine(AutoComplete.bash(spec.root().name(), spec.root().commandLine()));
    }
}
