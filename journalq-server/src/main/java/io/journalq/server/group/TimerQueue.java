package io.journalq.server.group;

import io.journalq.server.coordinator.CoordinatorMachine;
import java.util.TreeSet;

/** Runs work at its due time. Work with the same due time runs in the order in which it was scheduled. One thread. */
public final class TimerQueue {
    private final TreeSet<Deadline> pending = new TreeSet<>();
    private long nextNumber;
    /** By how much the clock is ahead of the due times in the queue. */
    private long aheadMs;

    private long nowMs;

    /** Scheduled work, which can be cancelled. */
    public final class Deadline implements Comparable<Deadline> {
        private final long dueMs;
        private final long number;
        private final Runnable work;

        private Deadline(long dueMs, long number, Runnable work) {
            this.dueMs = dueMs;
            this.number = number;
            this.work = work;
        }

        /** Cancels the work. Does nothing if it has already run. */
        public void cancel() {
            pending.remove(this);
        }

        @Override
        public int compareTo(Deadline other) {
            int byTime = Long.compare(dueMs, other.dueMs);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(number);
        }
    }

    /** Schedules work; it runs in the first tick at or after {@code dueMs}. */
    public Deadline at(long dueMs, Runnable work) {
        Deadline deadline = new Deadline(dueMs - aheadMs, nextNumber++, work);
        pending.add(deadline);
        return deadline;
    }

    /** Moves all due times: the clock was set by {@code stepMs}. */
    void onClockStep(long stepMs) {
        aheadMs += stepMs;
    }

    /** The time of the tick that runs. */
    long nowMs() {
        return nowMs;
    }

    /** Runs all due work, and returns when the next work is due. */
    public long run(long tickMs) {
        nowMs = tickMs;
        while (!pending.isEmpty() && pending.first().dueMs <= nowMs - aheadMs) {
            Deadline due = pending.pollFirst();
            due.work.run();
        }
        return pending.isEmpty() ? CoordinatorMachine.NEVER : pending.first().dueMs + aheadMs;
    }
}
