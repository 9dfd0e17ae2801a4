package io.journalq.cli.local;

/**
 * Stops a broker that is still starting when the command that starts it is told to end, as by Ctrl-C: nobody would know of
 * it. Once closed, the broker outlives the command.
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

    /** Runs on the hook's thread; this program ends when it does. */
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

    /** Whether this program is told to end, and the process with it. */
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
