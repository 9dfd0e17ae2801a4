package io.journalq.sim.world;

import io.journalq.sim.disk.SimDisk;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * What happens next: events in the order of a simulated time, which moves only from one event to the next. One that waits
 * for others runs them in between, as a thread that blocks lets others work.
 */
public final class Scheduler {
    private static final int MAX_NESTING = 20;
    private static final int LONGEST_YIELD_NANOS = 500_000;

    private static final Kind[] KINDS = Kind.values();

    /** By the number of their kind. */
    private final List<PriorityQueue<Event>> queues = new ArrayList<>();

    private final Random random;
    private final Trace trace = new Trace();
    private long nowNanos;
    private long lastNumber;
    private int nesting;
    private boolean controlRuns;
    private boolean stopped;

    /** Who runs an event. */
    public enum Kind {
        /** A shard's loop. */
        LOOP(0),
        /** A thread that may block. */
        POOL(1),
        /** The controller's one thread. */
        CONTROL(2),
        /** Somebody outside of the broker. */
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
     * A running hash of everything that happens in one simulation. Two runs of the same seed have the same, or something
     * outside of the seed has a say.
     */
    public static final class Trace {
        private static final long PRIME = 0x100000001B3L;

        private long hash = 0xCBF29CE484222325L;
        private long events;

        private Trace() {}

        /** Takes an event in. */
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

    /** The event under way takes this much longer. */
    public void spend(long ms) {
        nowNanos += TimeUnit.MILLISECONDS.toNanos(ms);
    }

    /** Runs {@code work} after a time. */
    public void after(Kind kind, long delayNanos, Runnable work) {
        queue(kind).add(new Event(nowNanos + delayNanos, lastNumber++, work));
    }

    /** As {@link #after}, at a random moment from now on. */
    public void soon(Kind kind, long longestDelayNanos, Runnable work) {
        after(kind, (long) (random.nextDouble() * longestDelayNanos), work);
    }

    /** The broker is gone: nothing of it runs any more, and whoever waits inside of it gives up. */
    public void stop() {
        stopped = true;
    }

    /** Forgets every event, and begins anew at the same time. */
    public void clear() {
        queues.forEach(PriorityQueue::clear);
        stopped = false;
        controlRuns = false;
        nesting = 0;
    }

    public boolean isStopped() {
        return stopped;
    }

    /** Runs the next event; false when there is none, or the broker is gone. */
    public boolean step() {
        return step(true);
    }

    /** Runs events until {@code done} says so; false when nothing is left to run, or the broker is gone. */
    public boolean runUntil(BooleanSupplier done) {
        while (!done.getAsBoolean()) {
            if (!step()) {
                return false;
            }
        }
        return true;
    }

    /** As a thread that waits: runs others until {@code wanted} is complete. */
    public <T> T join(CompletableFuture<T> wanted) {
        if (!runUntil(wanted::isDone) && !stopped) {
            throw new IllegalStateException("somebody waits for what nobody does");
        }
        if (!wanted.isDone()) {
            throw new SimDisk.Crash();
        }
        return wanted.join();
    }

    /** While a thread blocks for a moment, loops go on. */
    public void yieldToLoops() {
        long untilNanos = nowNanos + random.nextInt(LONGEST_YIELD_NANOS);
        for (int i = random.nextInt(4); i > 0 && isLoopDue(untilNanos) && step(false); i--) {
            // Each step is one iteration of a loop.
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
