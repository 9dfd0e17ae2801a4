package io.journalq.server.group;

import io.journalq.server.coordinator.CoordinatorMachine;
import java.util.TreeSet;

/** What is due when. Work of the same time runs in the order in which it was set. One thread. */
public final class Deadlines {
    private final TreeSet<Deadline> pending = new TreeSet<>();
    private long nextNumber;

    /** Work that is due at a time, until it is cancelled. */
    public final class Deadline implements Comparable<Deadline> {
        private final long dueMs;
        private final long number;
        private final Runnable work;

        private Deadline(long dueMs, long number, Runnable work) {
            this.dueMs = dueMs;
            this.number = number;
            this.work = work;
        }

        /** The work will not run. Nothing happens when it did already. */
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

    /** Sets work for a time; it runs in the tick that finds it due. */
    public Deadline at(long dueMs, Runnable work) {
        Deadline deadline = new Deadline(dueMs, nextNumber++, work);
        pending.add(deadline);
        return deadline;
    }

    /** Runs what is due; returns when the next is. */
    public long run(long nowMs) {
        while (!pending.isEmpty() && pending.first().dueMs <= nowMs) {
            Deadline due = pending.pollFirst();
            due.work.run();
        }
        return pending.isEmpty() ? CoordinatorMachine.NEVER : pending.first().dueMs;
    }
}
