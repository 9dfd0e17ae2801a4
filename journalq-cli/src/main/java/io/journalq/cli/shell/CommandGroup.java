package io.journalq.cli.shell;

import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A word that is no command yet, only the beginning of several: alone, it names them. */
public abstract class CommandGroup implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                commandLine(),
                "name a command: " + String.join(", ", spec.subcommands().keySet()));
    }

    public CommandLine commandLine() {
        return spec.commandLine();
    }
}
