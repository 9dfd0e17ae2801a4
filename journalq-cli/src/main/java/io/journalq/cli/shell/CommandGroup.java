package io.journalq.cli.shell;

import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A group of commands. Without a subcommand, it lists them. */
public abstract class CommandGroup implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                commandLine(),
                "a command is missing: " + String.join(", ", spec.subcommands().keySet()));
    }

    public CommandLine commandLine() {
        return spec.commandLine();
    }
}
