package io.journalq.cli.shell;

/** The reader of standard output has closed it, as in {@code | head}. This ends the command, but is not an error. */
public final class OutputClosed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public OutputClosed() {
        super("standard output was closed", null, false, false);
    }
}
