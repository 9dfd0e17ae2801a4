package io.journalq.cli.message;

/**
 * Says how far a command has come when it is interrupted with Ctrl-C, because its own thread can wait for input then.
 * Says nothing after it has been closed.
 */
final class InterruptReport implements AutoCloseable {
    private static final int MAX_WAIT_MS = 2_000;

    private final Thread hook;

    /** @param report runs when the process is told to end; it delays the end by at most 2 s */
    InterruptReport(Runnable report) {
        hook = new Thread(() -> runBriefly(report), "journalq-interrupt");
    }

    /** If nobody reads the output of the process, the report can wait without end. */
    private static void runBriefly(Runnable report) {
        Thread reporter = new Thread(report, "journalq-interrupt-report");
        reporter.setDaemon(true);
        reporter.start();
        try {
            reporter.join(MAX_WAIT_MS);
        } catch (InterruptedException enough) {
            Thread.currentThread().interrupt();
        }
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
