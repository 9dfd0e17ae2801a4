package io.journalq.server.shard.partition;

import io.journalq.server.loop.Loop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A loop that runs on the test's thread, when the test says so. Timers fire when the test lets them. */
public final class SteppedLoop implements Loop {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final ArrayDeque<Runnable> afterIteration = new ArrayDeque<>();
    private final List<Runnable> timers = new ArrayList<>();
    private long nowNanos;

    /** Runs iterations until nothing is left to do. */
    public void run() {
        while (!tasks.isEmpty() || !afterIteration.isEmpty()) {
            runAll(new ArrayDeque<>(tasks), tasks);
            runAll(new ArrayDeque<>(afterIteration), afterIteration);
        }
    }

    /** Runs all timers, as if their time had come. */
    public void fireTimers() {
        List<Runnable> due = List.copyOf(timers);
        timers.clear();
        due.forEach(Runnable::run);
        run();
    }

    /** Number of timers that have not fired. */
    public int timerCount() {
        return timers.size();
    }

    /** Advances the clock; timers still fire when the test lets them. */
    public void advance(long ms) {
        nowNanos += TimeUnit.MILLISECONDS.toNanos(ms);
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
        timers.add(work);
        return () -> timers.remove(work);
    }

    @Override
    public long nanoTime() {
        return nowNanos;
    }
}
