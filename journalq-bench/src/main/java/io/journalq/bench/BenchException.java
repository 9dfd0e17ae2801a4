package io.journalq.bench;

/**
 * A benchmark that cannot start or continue. The message is one line that states the problem and the remedy. The exit code
 * is 2 if the command line is wrong, otherwise 1.
 */
public final class BenchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean wrongUsage;

    /** {@code remedy} is a command or a change that helps, without a full stop. */
    public BenchException(String problem, String remedy) {
        this(problem + "; " + remedy, null, false);
    }

    public BenchException(String problem, String remedy, Throwable cause) {
        this(problem + " (" + rootMessage(cause) + "); " + remedy, cause, false);
    }

    private BenchException(String message, Throwable cause, boolean wrongUsage) {
        super(message, cause);
        this.wrongUsage = wrongUsage;
    }

    /** A wrong command line: a value that no broker and no machine could make right. */
    public static BenchException wrongUsage(String problem, String remedy) {
        return new BenchException(problem + "; " + remedy, null, true);
    }

    public boolean isWrongUsage() {
        return wrongUsage;
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
