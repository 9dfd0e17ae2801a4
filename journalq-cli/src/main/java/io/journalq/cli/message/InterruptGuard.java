package io.journalq.cli.message;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a command end in order when it is interrupted with Ctrl-C: the process waits until this guard is closed, but at most
 * {@link #MAX_WAIT_SECONDS}.
 */
final class InterruptGuard implements AutoCloseable {
    private static final int MAX_WAIT_SECONDS = 5;

    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook = new Thread(this::interrupted, "journalq-interrupt");
    private volatile Runnable action = () -> {};

    InterruptGuard() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Sets what ends the command. It runs on another thread. */
    void onInterrupt(Runnable newAction) {
        action = newAction;
    }

    /** Ends the command, and waits for it. Called by the shutdown hook. */
    void interrupted() {
        try {
            action.run();
        } catch (RuntimeException alreadyEnding) {
            // There is nothing left to end, but the end takes time, too.
        }
        try {
            boolean unused = closed.await(MAX_WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException enough) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closed.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException alreadyEnding) {
            // The hook is running, and ends now.
            action = () -> {};
        }
    }
}
