package io.journalq.sim.world;

import io.journalq.sim.disk.SimDisk;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Runs the events of all processes in the order of a simulated time, which moves only from one event to the next.
 * Clients belong to a process that never crashes.
 */
public final class Scheduler {
    private static final int LONGEST_YIELD_NANOS = 500_000;

    /** Events may add and remove processes while all are gone through. */
    private final List<SimProcess> processes = new CopyOnWriteArrayList<>();

    private final SimProcess clients;
    private final Random random;
    private final Trace trace = new Trace();
    private long nowNanos;
    private long lastNumber;
    /** The process of the running event; null for none. */
    private SimProcess running;

    private boolean stopped;

    /** The thread that runs an event. */
    public enum Kind {
        /** The event loop of a shard. */
        LOOP(0),
        /** A thread of the blocking pool. */
        POOL(1),
        /** The thread of the controller. */
        CONTROL(2),
        /** A client. */
        CLIENT(3);

        final int number;

        Kind(int number) {
            this.number = number;
        }
    }

    /**
     * A running hash of all events of one simulation. If two runs of a seed have different hashes, something other than
     * the seed affects them.
     */
    public static final class Trace {
        private static final long PRIME = 0x100000001B3L;

        private long hash = 0xCBF29CE484222325L;
        private long events;

        private Trace() {}

        /** Adds an event to the hash. */
        public void add(int what, long number) {
            hash = (hash ^ what) * PRIME;
            hash = (hash ^ number) * PRIME;
            hash ^= hash >>> 29;
            events++;
        }

        public long hash() {
            return hash;
        }

        public long events() {
            return events;
        }
    }

    public Scheduler(Random random) {
        this.random = random;
        this.clients = newProcess(new SimClock(this));
    }

    /** Adds a process without events on a machine with this clock. */
    public SimProcess newProcess(SimClock clock) {
        SimProcess process = new SimProcess(this, random, clock);
        processes.add(process);
        return process;
    }

    /** Removes a process and its events. */
    void remove(SimProcess process) {
        processes.remove(process);
    }

    public Trace trace() {
        return trace;
    }

    public long nowNanos() {
        return nowNanos;
    }

    public long nowMs() {
        return TimeUnit.NANOSECONDS.toMillis(nowNanos);
    }

    /** Extends the duration of the running event. */
    public void spend(long ms) {
        nowNanos += TimeUnit.MILLISECONDS.toNanos(ms);
    }

    /** Runs {@code work} of a client after a random delay. */
    public void later(long longestDelayNanos, Runnable work) {
        clients.soon(Kind.CLIENT, longestDelayNanos, work);
    }

    /** Runs {@code work} of a client, of the network, or of the course of events after a delay. */
    public void after(long delayNanos, Runnable work) {
        clients.after(Kind.CLIENT, delayNanos, work);
    }

    /** The number of an event. A later one has a larger number. */
    long nextNumber() {
        return lastNumber++;
    }

    /** Stops all processes. No event runs any more, and waiting events fail. */
    public void stop() {
        stopped = true;
    }

    /** Removes all events. The time stays the same. */
    public void clear() {
        processes.forEach(SimProcess::clear);
        stopped = false;
    }

    /** The simulation is over: ends the threads that wait. */
    public void end() {
        stopped = true;
        processes.forEach(SimProcess::stop);
    }

    public boolean isStopped() {
        return stopped;
    }

    /** Runs the next event. Returns false if there is none, or if all processes are stopped. */
    public boolean step() {
        return step(true);
    }

    /** Runs events until {@code done}. Returns false if no event is left, or if all processes are stopped. */
    public boolean runUntil(BooleanSupplier done) {
        while (!done.getAsBoolean()) {
            if (!step()) {
                return false;
            }
        }
        return true;
    }

    /** Lets event loops run while a thread blocks for a short time. */
    void yieldToLoops() {
        long untilNanos = nowNanos + random.nextInt(LONGEST_YIELD_NANOS);
        for (int i = random.nextInt(4); i > 0 && isLoopDue(untilNanos) && step(false); i--) {
            // Each step is one iteration of an event loop.
        }
        nowNanos = Math.max(nowNanos, untilNanos);
    }

    private boolean isLoopDue(long untilNanos) {
        SimProcess next = next(false);
        return next != null && next.nextNanos(false) <= untilNanos;
    }

    private boolean step(boolean all) {
        if (stopped) {
            return false;
        }
        SimProcess next = next(all);
        if (next == null) {
            return false;
        }
        run(next, () -> next.runNext(all));
        if (all) {
            for (SimProcess process : processes) {
                if (process.hasThreads()) {
                    run(process, process::continueThreads);
                }
            }
        }
        return !stopped;
    }

    private void run(SimProcess process, Runnable work) {
        SimProcess outer = running;
        running = process;
        try {
            work.run();
        } catch (SimDisk.Crash gone) {
            process.stop();
            if (outer == process) {
                throw gone;
            }
        } finally {
            running = outer;
        }
    }

    void advance(Kind kind, long toNanos) {
        nowNanos = Math.max(nowNanos, toNanos);
        trace.add(kind.number, nowNanos);
    }

    /** The process with the next event; null if no event is left. */
    private SimProcess next(boolean all) {
        SimProcess best = null;
        long bestNanos = EventQueue.NEVER;
        for (SimProcess process : processes) {
            long nanos = process.nextNanos(all);
            if (nanos == EventQueue.NEVER) {
                continue;
            }
            if (best == null || EventQueue.isBefore(nanos, process.nextNumber(all), bestNanos, best.nextNumber(all))) {
                best = process;
                bestNanos = nanos;
            }
        }
        return best;
    }
}
