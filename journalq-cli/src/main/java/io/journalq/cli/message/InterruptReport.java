package io.journalq.cli.message;

/**
 * Says how far a command has come when it is interrupted with Ctrl-C, because its own thread can wait for input then.
 * Says nothing after it has been closed.
 */
final class InterruptReport implements AutoCloseable {
    private final Thread hook;

    /** @param report runs when the process is told to end; it delays the end */
    InterruptReport(Runnable report) {
        hook = new Thread(report, "journalq-interrupt");
    }

    void start() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException alreadyEnding) {
            // The hook is running, and reports.
        }
    }
}
