package io.journalq.cli;

import io.journalq.cli.shell.Terminal;
import java.util.Map;
import picocli.CommandLine;

/** The entry point of {@code bin/journalq}. */
public final class JournalqMain {
    private JournalqMain() {}

    /** Runs one command and exits with its exit code. */
    public static void main(String[] arguments) {
        // Exits explicitly, because a thread of a connection must not keep the process alive.
        System.exit(run(Terminal.ofProcess(), System.getenv(), arguments));
    }

    /** Returns the command line with all commands and options. */
    public static CommandLine commandLine(Terminal terminal) {
        return CommandLines.of(new JournalqCommand(terminal, System.getenv()), JournalqCommand.COMMANDS, terminal);
    }

    static int run(Terminal terminal, Map<String, String> environment, String... arguments) {
        CommandLine commandLine = CommandLines.of(
                new JournalqCommand(terminal, environment), JournalqCommand.COMMANDS, terminal, arguments);
        return CommandLines.run(commandLine, terminal, arguments);
    }
}
