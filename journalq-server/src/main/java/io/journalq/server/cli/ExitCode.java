package io.journalq.server.cli;

/** What the commands end with. */
final class ExitCode {
    /** What was asked is done. */
    static final int DONE = 0;
    /** It could not be done; one line on standard error says why. */
    static final int FAILED = 1;
    /** The command line itself is wrong. */
    static final int USAGE = 2;
    /** Asked for its state, the broker is not running; the number that service scripts use for it. */
    static final int NOT_RUNNING = 3;

    private ExitCode() {}
}
