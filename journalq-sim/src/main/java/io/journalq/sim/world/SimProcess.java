package io.journalq.sim.world;

import io.journalq.sim.disk.SimDisk;
import io.journalq.sim.world.Scheduler.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The threads of one process, from its start to its end. After a crash, none of its events run any more, and its
 * waiting events fail.
 */
public final class SimProcess {
    private static final Kind[] KINDS = Kind.values();
    private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Scheduler scheduler;
    private final Random random;
    private final SimClock clock;

    /** By the number of the kind. */
    private final List<EventQueue> queues = new ArrayList<>();

    /** The kind of the next event of all threads; null if there is none, or if {@link #isNextKnown} is not set. */
    private Kind next;

    /** Whether {@link #next} is right: each event asks all processes for their next one, and few have changed. */
    private boolean isNextKnown;

    /** Those that wait. */
    private final List<SimThread> threads = new ArrayList<>();

    private boolean controlRuns;
    private boolean stopped;
    private long frozenFromNanos;
    private long frozenTotalNanos;
    private long frozenUntilNanos = -LATE_NANOS;

    SimProcess(Scheduler scheduler, Random random, SimClock clock) {
        this.scheduler = scheduler;
        this.random = random;
        this.clock = clock;
        for (int i = 0; i < KINDS.length; i++) {
            queues.add(new EventQueue());
        }
    }

    /** The time of day and the time of timers on its machine. */
    SimClock clock() {
        return clock;
    }

    /** Runs {@code work} on a thread of this process after a delay. */
    public void after(Kind kind, long delayNanos, Runnable work) {
        queue(kind).add(scheduler.nowNanos() + delayNanos, scheduler.nextNumber(), work);
        isNextKnown = false;
    }

    /** Like {@link #after}, with a random delay. */
    void soon(Kind kind, long longestDelayNanos, Runnable work) {
        after(kind, (long) (random.nextDouble() * longestDelayNanos), work);
    }

    /** Like {@link #after}, with a delay that the clock of the machine measures. */
    void onTimer(Kind kind, long delayMs, Runnable work) {
        after(kind, clock.simulatedNanos(TimeUnit.MILLISECONDS.toNanos(delayMs)), work);
    }

    /** Lets no thread run for a time, as SIGSTOP does. What is due in the meantime runs afterwards. */
    public void freeze(long nanos) {
        if (!isFrozen()) {
            frozenFromNanos = scheduler.nowNanos();
            frozenUntilNanos = frozenFromNanos + nanos;
            frozenTotalNanos += nanos;
        }
    }

    /** Time in which it has not been frozen, since any moment before it began. */
    public long runningMs() {
        return TimeUnit.NANOSECONDS.toMillis(scheduler.nowNanos() - frozenTotalNanos + frozenNanos());
    }

    boolean isFrozen() {
        return frozenNanos() > 0;
    }

    /** How much longer it is frozen. */
    long frozenNanos() {
        return Math.max(0, frozenUntilNanos - scheduler.nowNanos());
    }

    /** When it last did everything in time: it may have much to do after {@link #freeze}. */
    long inTimeUntilMs() {
        boolean late = scheduler.nowNanos() < frozenUntilNanos + LATE_NANOS;
        return TimeUnit.NANOSECONDS.toMillis(late ? frozenFromNanos : scheduler.nowNanos());
    }

    /** The process has crashed. Its threads end. */
    void stop() {
        stopped = true;
        for (SimThread thread : List.copyOf(threads)) {
            threads.remove(thread);
            try {
                thread.goOn();
            } catch (SimDisk.Crash gone) {
                // It was in the middle of its work.
            }
        }
    }

    /** Whether the process has crashed. */
    public boolean isStopped() {
        return stopped || scheduler.isStopped();
    }

    /** Removes all events. */
    void clear() {
        queues.forEach(EventQueue::clear);
        controlRuns = false;
        stopped = false;
        isNextKnown = false;
    }

    /** Runs {@code work} after a delay, on a thread of its own that may wait in {@link #join} and {@link #runUntil}. */
    void begin(long delayNanos, Runnable work) {
        after(Kind.POOL, delayNanos, () -> {
            SimThread thread = new SimThread();
            thread.start(work);
            keep(thread);
        });
    }

    private void keep(SimThread thread) {
        if (thread.hasEnded()) {
            return;
        }
        threads.add(thread);
        if (stopped) {
            stop(); // It has stopped its own process, and waits.
        }
    }

    /** Whether threads wait that {@link #continueThreads} may continue. */
    boolean hasThreads() {
        return !threads.isEmpty();
    }

    /** Continues the threads for which something has come. */
    void continueThreads() {
        if (isFrozen()) {
            return;
        }
        for (SimThread thread : List.copyOf(threads)) {
            if (thread.isReady() && threads.remove(thread)) {
                thread.goOn();
                keep(thread);
            }
        }
    }

    /**
     * Waits until {@code done}. Events of all processes run meanwhile. An event that waits cannot go on before those that wait
     * within it, so that only short waits are allowed outside of {@link #begin}.
     *
     * @return false if no event is left, or after a crash
     */
    public boolean runUntil(BooleanSupplier done) {
        SimThread thread = SimThread.current();
        if (thread == null) {
            return scheduler.runUntil(() -> stopped || done.getAsBoolean()) && !stopped;
        }
        if (!done.getAsBoolean() && !isStopped()) {
            thread.await(done);
        }
        return !isStopped();
    }

    /**
     * Waits for {@code wanted} like a thread: other events run until it is complete.
     *
     * @throws SimDisk.Crash if the process crashes meanwhile
     */
    public <T> T join(CompletableFuture<T> wanted) {
        if (!runUntil(wanted::isDone) && !isStopped()) {
            throw new IllegalStateException("no event is left, and the awaited future is not complete");
        }
        if (stopped || !wanted.isDone()) {
            // Another process may use the disk already when this thread gets its turn.
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

    /**
     * When the next event is due; {@link EventQueue#NEVER} if there is none.
     *
     * @param all whether threads other than event loops may run
     */
    long nextNanos(boolean all) {
        Kind kind = nextKind(all);
        return kind == null ? EventQueue.NEVER : Math.max(queue(kind).atNanos(), frozenUntilNanos);
    }

    /** The number of the next event, which exists. */
    long nextNumber(boolean all) {
        return queue(nextKind(all)).number();
    }

    /** Runs the next event, which exists. */
    void runNext(boolean all) {
        Kind kind = nextKind(all);
        EventQueue queue = queue(kind);
        scheduler.advance(kind, Math.max(queue.atNanos(), frozenUntilNanos));
        Runnable work = queue.poll();
        boolean control = kind == Kind.CONTROL;
        controlRuns |= control;
        isNextKnown = false;
        try {
            work.run();
        } finally {
            if (control) {
                controlRuns = false;
                isNextKnown = false;
            }
        }
    }

    private EventQueue queue(Kind kind) {
        return queues.get(kind.number);
    }

    private Kind nextKind(boolean all) {
        if (stopped) {
            return null;
        }
        if (!all) {
            return queue(Kind.LOOP).isEmpty() ? null : Kind.LOOP;
        }
        if (!isNextKnown) {
            next = findNext();
            isNextKnown = true;
        }
        return next;
    }

    private Kind findNext() {
        Kind best = null;
        EventQueue earliest = null;
        for (Kind kind : KINDS) {
            boolean mayRun = kind != Kind.CONTROL || !controlRuns;
            EventQueue queue = queue(kind);
            if (mayRun && !queue.isEmpty() && (earliest == null || queue.isBefore(earliest))) {
                best = kind;
                earliest = queue;
            }
        }
        return best;
    }
}
