package io.journalq.sim.world;

import io.journalq.sim.disk.SimDisk;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** The blocking pool or the thread of the controller. Tasks run after a random or no delay. */
final class SimExecutor extends AbstractExecutorService {
    private final SimProcess process;
    private final Scheduler.Kind kind;
    private final long longestDelayNanos;
    private int waiting;
    private boolean shutDown;

    SimExecutor(SimProcess process, Scheduler.Kind kind, long longestDelayMs) {
        this.process = process;
        this.kind = kind;
        this.longestDelayNanos = TimeUnit.MILLISECONDS.toNanos(longestDelayMs);
    }

    @Override
    public void execute(Runnable work) {
        if (shutDown) {
            throw new RejectedExecutionException("the executor is shut down");
        }
        waiting++;
        Runnable counted = () -> {
            try {
                work.run();
            } finally {
                waiting--;
            }
        };
        if (kind == Scheduler.Kind.CONTROL) {
            process.after(kind, 0, counted);
        } else {
            process.soon(kind, longestDelayNanos, counted);
        }
    }

    @Override
    public void shutdown() {
        shutDown = true;
    }

    @Override
    public List<Runnable> shutdownNow() {
        shutdown();
        return List.of();
    }

    @Override
    public boolean isShutdown() {
        return shutDown;
    }

    @Override
    public boolean isTerminated() {
        return shutDown && waiting == 0;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        boolean done = process.runUntil(() -> waiting == 0);
        if (!done && process.isStopped()) {
            throw new SimDisk.Crash();
        }
        return done;
    }
}
