package io.journalq.server.shard;

import io.journalq.server.loop.Loop;
import java.util.ArrayDeque;

/** A loop that the test's thread is on, and that runs when the test says so. Timers never fire. */
final class SteppedLoop implements Loop {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final ArrayDeque<Runnable> afterIteration = new ArrayDeque<>();

    /** Runs iterations until nothing is left to do. */
    void run() {
        while (!tasks.isEmpty() || !afterIteration.isEmpty()) {
            runAll(new ArrayDeque<>(tasks), tasks);
            runAll(new ArrayDeque<>(afterIteration), afterIteration);
        }
    }

    private static void runAll(ArrayDeque<Runnable> now, ArrayDeque<Runnable> from) {
        from.clear();
        now.forEach(Runnable::run);
    }

    @Override
    public boolean inLoop() {
        return true;
    }

    @Override
    public void execute(Runnable work) {
        tasks.add(work);
    }

    @Override
    public void afterIteration(Runnable work) {
        afterIteration.add(work);
    }

    @Override
    public Timer schedule(Runnable work, long delayMs) {
        return () -> {};
    }

    @Override
    public long nanoTime() {
        return 0;
    }
}
