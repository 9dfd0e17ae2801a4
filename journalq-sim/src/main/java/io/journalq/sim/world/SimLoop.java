package io.journalq.sim.world;

import io.journalq.server.loop.Loop;
import java.util.ArrayDeque;
import java.util.Random;

/** The event loop of a shard. Tasks run in order, a random number of them in each iteration. */
final class SimLoop implements Loop {
    private static final long LONGEST_WAKE_UP_NANOS = 200_000;
    private static final int MOST_TASKS = 4;

    private final SimProcess process;
    private final Random random;
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final ArrayDeque<Runnable> tails = new ArrayDeque<>();
    private final Running running;
    private boolean woken;

    /** The loop that is running; null for none. All loops of a broker share it. */
    static final class Running {
        private SimLoop loop;
    }

    SimLoop(SimProcess process, Random random, Running running) {
        this.process = process;
        this.random = random;
        this.running = running;
    }

    @Override
    public boolean inLoop() {
        return running.loop == this;
    }

    @Override
    public void execute(Runnable work) {
        tasks.add(work);
        wakeUp();
    }

    @Override
    public void afterIteration(Runnable work) {
        tails.add(work);
        if (running.loop != this) {
            wakeUp();
        }
    }

    @Override
    public Timer schedule(Runnable work, long delayMs) {
        boolean[] cancelled = {false};
        process.onTimer(Scheduler.Kind.LOOP, delayMs, () -> {
            if (!cancelled[0]) {
                // It can be cancelled until it runs.
                execute(() -> {
                    if (!cancelled[0]) {
                        work.run();
                    }
                });
            }
        });
        return () -> cancelled[0] = true;
    }

    @Override
    public long nanoTime() {
        return process.clock().nanoTime();
    }

    private void wakeUp() {
        if (!woken) {
            woken = true;
            process.soon(Scheduler.Kind.LOOP, LONGEST_WAKE_UP_NANOS, this::iterate);
        }
    }

    private void iterate() {
        woken = false;
        SimLoop outer = running.loop;
        running.loop = this;
        try {
            int most = 1 + random.nextInt(MOST_TASKS);
            for (int i = 0; i < most && !tasks.isEmpty(); i++) {
                tasks.poll().run();
            }
            for (int i = tails.size(); i > 0; i--) {
                tails.poll().run();
            }
        } finally {
            running.loop = outer;
        }
        if (!tasks.isEmpty() || !tails.isEmpty()) {
            wakeUp();
        }
    }
}
