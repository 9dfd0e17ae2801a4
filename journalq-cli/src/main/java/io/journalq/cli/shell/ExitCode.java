package io.journalq.cli.shell;

/** What the commands end with. */
public final class ExitCode {
    /** What was asked is done. */
    public static final int DONE = 0;
    /** It could not be done; one line on standard error says why. */
    public static final int FAILED = 1;
    /** The command line itself is wrong. */
    public static final int USAGE = 2;
    /** Asked for its state, the broker is not running; the number that service scripts use for it. */
    public static final int NOT_RUNNING = 3;

    private ExitCode() {}
}
