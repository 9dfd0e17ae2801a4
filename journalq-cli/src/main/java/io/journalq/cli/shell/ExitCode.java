package io.journalq.cli.shell;

/** The exit codes of the commands. */
public final class ExitCode {
    /** The command has succeeded. */
    public static final int DONE = 0;
    /** The command has failed; a line on standard error states the reason. */
    public static final int FAILED = 1;
    /** The command line is invalid. */
    public static final int USAGE = 2;
    /** The broker is not running. Service scripts use this number for the status command. */
    public static final int NOT_RUNNING = 3;

    private ExitCode() {}
}
