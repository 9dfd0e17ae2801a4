package io.journalq.bench;

/**
 * A benchmark that cannot go on, in words for the person at the terminal: what went wrong, and what to do about it.
 * Becomes one line and exit code 1.
 */
public final class BenchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** {@code remedy} is a command or a change that helps, without a full stop. */
    public BenchException(String problem, String remedy) {
        super(problem + "; " + remedy);
    }

    public BenchException(String problem, String remedy, Throwable cause) {
        super(problem + " (" + rootMessage(cause) + "); " + remedy, cause);
    }

    private static String rootMessage(Throwable thrown) {
        Throwable cause = thrown;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        String message = cause.getMessage();
        return message == null
                ? cause.getClass().getSimpleName()
                : message.lines().findFirst().orElse(message);
    }
}
