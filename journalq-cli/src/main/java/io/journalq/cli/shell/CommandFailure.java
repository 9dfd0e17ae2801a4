package io.journalq.cli.shell;

/** A command could not do what was asked: the message is one line that says why, and what to do about it. */
public final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CommandFailure(String message) {
        super(message, null, false, false);
    }
}
