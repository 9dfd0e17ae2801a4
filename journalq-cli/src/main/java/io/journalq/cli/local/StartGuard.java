package io.journalq.cli.local;

/**
 * Stops a broker that is still starting if the command that starts it is interrupted, for example with Ctrl-C. After
 * this guard is closed, the broker outlives the command.
 */
final class StartGuard implements AutoCloseable {
    private final Process process;
    private final Thread hook = new Thread(this::stop, "journalq-start-guard");
    private volatile boolean interrupted;

    /** Guards a process from now on. */
    StartGuard(Process process) {
        this.process = process;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Runs on the thread of the shutdown hook. */
    private void stop() {
        interrupted = true;
        process.destroy();
        try {
            process.waitFor();
        } catch (InterruptedException enough) {
            Thread.currentThread().interrupt();
        }
    }

    Process process() {
        return process;
    }

    /** Whether this program, and with it the process, is being stopped. */
    boolean interrupted() {
        return interrupted;
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException alreadyEnding) {
            interrupted = true;
        }
    }
}
