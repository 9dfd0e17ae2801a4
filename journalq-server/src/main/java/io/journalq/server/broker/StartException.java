package io.journalq.server.broker;

/** The broker cannot start. The message is one line for the operator that says what to do. */
public final class StartException extends Exception {
    private static final long serialVersionUID = 1L;

    StartException(String message, Throwable cause) {
        super(message, cause);
    }

    StartException(String message) {
        super(message);
    }
}
