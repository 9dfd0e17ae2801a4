package io.journalq.sim.world;

import io.journalq.sim.disk.SimDisk;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;

/**
 * A thread of a simulated process that waits in the middle of its work, as the start of a broker does. The scheduler does
 * nothing while it runs, so that only one thread runs at any time and the order of everything depends on the seed alone.
 */
final class SimThread {
    private static final ThreadLocal<SimThread> CURRENT = new ThreadLocal<>();

    private final Semaphore turn = new Semaphore(0);
    private final Semaphore back = new Semaphore(0);
    /** What it waits for; null while it does not wait. */
    private BooleanSupplier awaited;

    private boolean ended;
    private Throwable failure;

    /** The simulated thread that calls this; null for the scheduler itself. */
    static SimThread current() {
        return CURRENT.get();
    }

    /** Begins {@code work}, and returns when it waits or has ended. */
    void start(Runnable work) {
        Thread thread = new Thread(() -> run(work), "simulated");
        thread.setDaemon(true);
        thread.start();
        goOn();
    }

    private void run(Runnable work) {
        CURRENT.set(this);
        turn.acquireUninterruptibly();
        try {
            work.run();
        } catch (RuntimeException | Error thrown) {
            failure = thrown;
        } finally {
            ended = true;
            back.release();
        }
    }

    boolean hasEnded() {
        return ended;
    }

    /** Whether what it waits for has come. */
    boolean isReady() {
        return awaited != null && awaited.getAsBoolean();
    }

    /**
     * Continues it, and returns when it waits again or has ended.
     *
     * @throws SimDisk.Crash if its process has crashed in a call of its disk, and any other exception of its work
     */
    void goOn() {
        awaited = null;
        turn.release();
        back.acquireUninterruptibly();
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
        if (failure instanceof Error error) {
            throw error;
        }
    }

    /** Waits until {@link #goOn} is called. Called by the thread itself. */
    void await(BooleanSupplier condition) {
        awaited = condition;
        back.release();
        turn.acquireUninterruptibly();
    }
}
