package io.journalq.server.cli;

import io.journalq.server.cli.shell.Terminal;

/** Starts {@code bin/journalq-server}, except for a broker in the foreground, which the script runs itself. */
public final class ServerMain {
    private ServerMain() {}

    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        System.exit(run(Terminal.ofProcess(), arguments));
    }

    static int run(Terminal terminal, String... arguments) {
        return CommandLines.run(new ServerCommand(terminal), terminal, arguments);
    }
}
