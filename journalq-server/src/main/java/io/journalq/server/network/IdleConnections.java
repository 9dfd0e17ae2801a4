package io.journalq.server.network;

import io.journalq.server.loop.LoopCycle;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Closes the connections of one loop that are idle for too long, because their clients have disappeared or send a
 * request so slowly that it never completes. Closes a stalling connection earlier if it holds memory that others wait
 * for. Checks all connections periodically, so that a request does not have to read the clock. On the loop.
 */
public final class IdleConnections {
    /** A connection is closed late by at most the limit divided by this number. */
    private static final int CHECKS_PER_LIMIT = 10;

    private static final long LONGEST_INTERVAL_MS = 10_000;
    private static final long STALL_INTERVAL_MS = 1_000;

    private final LoopCycle cycle;
    private final long maxIdleMs;
    private final long intervalMs;
    private final NetworkCounters counters;
    private final InFlightBudget gathering;
    private final SharedMemory memory;
    private boolean othersWaited;
    private final Set<AcceptedConnection> connections = new LinkedHashSet<>();

    IdleConnections(
            LoopCycle cycle, long maxIdleMs, NetworkCounters counters, InFlightBudget gathering, SharedMemory memory) {
        this.gathering = gathering;
        this.memory = memory;
        this.cycle = cycle;
        this.maxIdleMs = maxIdleMs;
        this.counters = counters;
        this.intervalMs = Math.max(1, Math.min(LONGEST_INTERVAL_MS, maxIdleMs / CHECKS_PER_LIMIT));
        cycle.loop().schedule(this::check, intervalMs);
        cycle.loop().schedule(this::checkStalls, STALL_INTERVAL_MS);
    }

    public void add(AcceptedConnection connection) {
        connections.add(connection);
    }

    public void remove(AcceptedConnection connection) {
        connections.remove(connection);
    }

    /** Also after a failure, such as a lack of memory, it is called again. */
    private void check() {
        try {
            closeIdle();
        } finally {
            cycle.loop().schedule(this::check, intervalMs);
        }
    }

    private void closeIdle() {
        long nowNanos = cycle.loop().nanoTime();
        long maxIdleNanos = TimeUnit.MILLISECONDS.toNanos(maxIdleMs);
        for (AcceptedConnection connection : new ArrayList<>(connections)) {
            if (connection.idleNanos(nowNanos) >= maxIdleNanos) {
                counters.idleConnections.increment();
                connection.close("nothing completed for " + maxIdleMs + " ms (connections.max.idle.ms)");
            }
        }
    }

    private void checkStalls() {
        try {
            closeStalling();
        } finally {
            cycle.loop().schedule(this::checkStalls, STALL_INTERVAL_MS);
        }
    }

    /** Closes the connections that hold memory that others wait for and transfer too little. */
    private void closeStalling() {
        boolean othersWait = memory.hasWaiting() || gathering.hasWaiting();
        if (othersWait) {
            long nowNanos = cycle.loop().nanoTime();
            for (AcceptedConnection connection : new ArrayList<>(connections)) {
                if (connection.isStalling(nowNanos, !othersWaited)) {
                    counters.stalledConnections.increment();
                    connection.close("it holds memory that others wait for, and transfers less than 1 MiB in 5 s"
                            + " (total.in.flight.max.bytes)");
                }
            }
        }
        othersWaited = othersWait;
    }
}
