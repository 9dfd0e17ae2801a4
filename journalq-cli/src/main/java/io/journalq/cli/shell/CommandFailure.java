package io.journalq.cli.shell;

/** A command failed. The message is one line that states the reason and what to do about it. */
public final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CommandFailure(String message) {
        super(message, null, false, false);
    }
}
