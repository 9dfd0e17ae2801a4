package io.journalq.sim.world;

import io.journalq.sim.disk.SimDisk;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Runs events in the order of a simulated time, which moves only from one event to the next. An event that waits runs
 * others meanwhile, as a blocked thread lets other threads run.
 */
public final class Scheduler {
    private static final int MAX_NESTING = 20;
    private static final int LONGEST_YIELD_NANOS = 500_000;

    private static final Kind[] KINDS = Kind.values();

    /** By the number of the kind. */
    private final List<PriorityQueue<Event>> queues = new ArrayList<>();

    private final Random random;
    private final Trace trace = new Trace();
    private long nowNanos;
    private long lastNumber;
    private int nesting;
    private boolean controlRuns;
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

        private final int number;

        Kind(int number) {
            this.number = number;
        }
    }

    private record Event(long atNanos, long number, Runnable work) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(atNanos, other.atNanos);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
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
        for (int i = 0; i < KINDS.length; i++) {
            queues.add(new PriorityQueue<>());
        }
    }

    private PriorityQueue<Event> queue(Kind kind) {
        return queues.get(kind.number);
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

    /** Runs {@code work} after a delay. */
    public void after(Kind kind, long delayNanos, Runnable work) {
        queue(kind).add(new Event(nowNanos + delayNanos, lastNumber++, work));
    }

    /** Like {@link #after}, with a random delay. */
    public void soon(Kind kind, long longestDelayNanos, Runnable work) {
        after(kind, (long) (random.nextDouble() * longestDelayNanos), work);
    }

    /** The broker has crashed. None of its events run any more, and its waiting events fail. */
    public void stop() {
        stopped = true;
    }

    /** Removes all events. The time stays the same. */
    public void clear() {
        queues.forEach(PriorityQueue::clear);
        stopped = false;
        controlRuns = false;
        nesting = 0;
    }

    public boolean isStopped() {
        return stopped;
    }

    /** Runs the next event. Returns false if there is none, or if the broker has crashed. */
    public boolean step() {
        return step(true);
    }

    /** Runs events until {@code done}. Returns false if no event is left, or if the broker has crashed. */
    public boolean runUntil(BooleanSupplier done) {
        while (!done.getAsBoolean()) {
            if (!step()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Waits for {@code wanted} like a thread: runs other events until it is complete.
     *
     * @throws SimDisk.Crash if the process crashes meanwhile
     */
    public <T> T join(CompletableFuture<T> wanted) {
        if (!runUntil(wanted::isDone) && !stopped) {
            throw new IllegalStateException("no event is left, and the awaited future is not complete");
        }
        if (!wanted.isDone()) {
            throw new SimDisk.Crash();
        }
        try {
            return wanted.join();
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof SimDisk.Crash crash) {
                throw crash;
            }
            throw failure;
        }
    }

    /** Lets event loops run while a thread blocks for a short time. */
    public void yieldToLoops() {
        long untilNanos = nowNanos + random.nextInt(LONGEST_YIELD_NANOS);
        for (int i = random.nextInt(4); i > 0 && isLoopDue(untilNanos) && step(false); i--) {
            // Each step is one iteration of an event loop.
        }
        nowNanos = Math.max(nowNanos, untilNanos);
    }

    private boolean isLoopDue(long untilNanos) {
        Event next = queue(Kind.LOOP).peek();
        return next != null && next.atNanos <= untilNanos;
    }

    private boolean step(boolean all) {
        if (stopped || nesting >= MAX_NESTING) {
            return false;
        }
        Kind next = nextKind(all);
        if (next == null) {
            return false;
        }
        Event event = queue(next).poll();
        nowNanos = Math.max(nowNanos, event.atNanos);
        trace.add(next.number, nowNanos);
        boolean control = next == Kind.CONTROL;
        nesting++;
        controlRuns |= control;
        try {
            event.work.run();
        } catch (SimDisk.Crash gone) {
            stopped = true;
            if (nesting > 1) {
                throw gone;
            }
        } finally {
            nesting--;
            if (control) {
                controlRuns = false;
            }
        }
        return !stopped;
    }

    private Kind nextKind(boolean all) {
        Kind best = null;
        Event earliest = null;
        for (Kind kind : KINDS) {
            boolean mayRun = kind == Kind.LOOP || (all && !(kind == Kind.CONTROL && controlRuns));
            Event head = queue(kind).peek();
            if (mayRun && head != null && (earliest == null || head.compareTo(earliest) < 0)) {
                best = kind;
                earliest = head;
            }
        }
        return best;
    }
}
