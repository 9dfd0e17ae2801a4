package io.journalq.server.api.data;

import io.journalq.server.memory.MemoryAccount;
import java.util.concurrent.atomic.AtomicInteger;

/** The number of partitions in all fetch sessions of a broker, and its limit. Any thread. */
final class SessionBudget {
    private final int maxPartitions;
    private final MemoryAccount memory;
    private final AtomicInteger used = new AtomicInteger();

    /** @param memory is charged for sessions */
    SessionBudget(int maxPartitions, MemoryAccount memory) {
        this.memory = memory;
        this.maxPartitions = maxPartitions;
    }

    /** Counts the partitions of a session if the limit allows it. */
    boolean take(int partitions) {
        int before;
        do {
            before = used.get();
            if (partitions > maxPartitions - before) {
                return false;
            }
        } while (!used.compareAndSet(before, before + partitions));
        return true;
    }

    MemoryAccount memory() {
        return memory;
    }

    void giveBack(int partitions) {
        used.addAndGet(-partitions);
    }

    int used() {
        return used.get();
    }
}
