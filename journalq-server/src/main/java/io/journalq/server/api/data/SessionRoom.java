package io.journalq.server.api.data;

import io.journalq.server.memory.MemoryAccount;
import java.util.concurrent.atomic.AtomicInteger;

/** How many partitions all fetch sessions of a broker remember, and how many they may. Any thread. */
final class SessionRoom {
    private final int maxPartitions;
    private final MemoryAccount memory;
    private final AtomicInteger used = new AtomicInteger();

    /** @param memory where sessions are charged */
    SessionRoom(int maxPartitions, MemoryAccount memory) {
        this.memory = memory;
        this.maxPartitions = maxPartitions;
    }

    /** Counts the partitions of a session, if there is room for them. */
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
