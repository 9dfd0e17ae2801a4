package io.journalq.cli.shell;

/** Nobody reads what is written any more, as after {@code | head}: a reason to end, not an error. */
public final class OutputClosed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public OutputClosed() {
        super("standard output was closed", null, false, false);
    }
}
