package io.journalq.cli;

import io.journalq.cli.shell.Terminal;
import picocli.CommandLine;

/** Starts {@code bin/journalq-server}, except for a broker in the foreground, which the script runs itself. */
public final class ServerMain {
    private ServerMain() {}

    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        System.exit(run(Terminal.ofProcess(), arguments));
    }

    /** The program as it is typed: its commands, options and help. */
    public static CommandLine commandLine(Terminal terminal) {
        return CommandLines.of(new ServerCommand(terminal), terminal);
    }

    static int run(Terminal terminal, String... arguments) {
        return CommandLines.run(commandLine(terminal), terminal, arguments);
    }
}
