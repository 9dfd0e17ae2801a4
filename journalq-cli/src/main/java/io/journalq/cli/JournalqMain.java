package io.journalq.cli;

import io.journalq.cli.shell.Terminal;
import picocli.CommandLine;

/** Starts {@code bin/journalq}. */
public final class JournalqMain {
    private JournalqMain() {}

    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        // Not a return: a connection's thread must not keep the process of a finished command.
        System.exit(run(Terminal.ofProcess(), arguments));
    }

    /** The program as it is typed: its commands, options and help. */
    public static CommandLine commandLine(Terminal terminal) {
        return CommandLines.of(new JournalqCommand(terminal), terminal);
    }

    static int run(Terminal terminal, String... arguments) {
        return CommandLines.run(commandLine(terminal), terminal, arguments);
    }
}
