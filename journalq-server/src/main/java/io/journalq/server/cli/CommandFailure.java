package io.journalq.server.cli;

/** A command could not do what was asked: the message is one line that says why, and what to do about it. */
final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CommandFailure(String message) {
        super(message, null, false, false);
    }
}
