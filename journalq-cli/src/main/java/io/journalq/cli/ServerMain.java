package io.journalq.cli;

import io.journalq.cli.shell.Terminal;
import picocli.CommandLine;

/** The entry point of {@code bin/journalq-server}. A broker in the foreground is run by the script itself. */
public final class ServerMain {
    private ServerMain() {}

    /** Runs one command and exits with its exit code. */
    public static void main(String[] arguments) {
        System.exit(run(Terminal.ofProcess(), arguments));
    }

    /** Returns the command line with all commands and options. */
    public static CommandLine commandLine(Terminal terminal) {
        return CommandLines.of(new ServerCommand(terminal), ServerCommand.COMMANDS, terminal);
    }

    static int run(Terminal terminal, String... arguments) {
        CommandLine commandLine =
                CommandLines.of(new ServerCommand(terminal), ServerCommand.COMMANDS, terminal, arguments);
        return CommandLines.run(commandLine, terminal, arguments);
    }
}
