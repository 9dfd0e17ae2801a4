package io.journalq.server.shard.flush;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Decides which partitions are flushed now. Each partition is flushed within its interval after its first unflushed
 * write. The flushes of partitions that were written together are spread over the interval. The intervals of the
 * waiting partitions add up to a rate of flushes that meets all of them. Each call of {@link #take} returns as many
 * partitions as the rate allows, the most urgent first, before they are due. A single partition waits for its whole
 * interval.
 *
 * <p>One thread at a time.
 */
final class FlushSchedule<P> {
    private final Map<P, Waiting<P>> waiting = new HashMap<>();
    private final TreeSet<Waiting<P>> byUrgency =
            new TreeSet<>(Comparator.<Waiting<P>>comparingLong(entry -> entry.dueNanos() - this.originNanos)
                    .thenComparingLong(Waiting::number));
    private long originNanos;
    private long lastNanos;
    private long count;

    /** Flushes per nanosecond that the waiting partitions need. */
    private double flushesPerNano;

    /** Number of flushes that may be returned before they are due. */
    private double credit;

    private record Waiting<P>(P partition, long dueNanos, double flushesPerNano, long number) {}

    /**
     * Adds a partition at its first unflushed write; later writes change nothing.
     *
     * @return whether it was the first
     */
    boolean add(P partition, long intervalNanos, long nowNanos) {
        if (waiting.containsKey(partition)) {
            return false;
        }
        if (waiting.isEmpty()) {
            originNanos = nowNanos;
            lastNanos = nowNanos;
            flushesPerNano = 0;
            credit = 0;
        }
        Waiting<P> entry =
                new Waiting<>(partition, nowNanos + intervalNanos, 1.0 / Math.max(1, intervalNanos), count++);
        waiting.put(partition, entry);
        byUrgency.add(entry);
        flushesPerNano += entry.flushesPerNano();
        return true;
    }

    void remove(P partition) {
        Waiting<P> entry = waiting.remove(partition);
        if (entry != null) {
            byUrgency.remove(entry);
            flushesPerNano -= entry.flushesPerNano();
        }
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Removes and returns the partitions to flush now. */
    List<P> take(long nowNanos) {
        credit += (nowNanos - lastNanos) * flushesPerNano;
        lastNanos = nowNanos;
        List<P> taken = new ArrayList<>();
        while (!byUrgency.isEmpty() && (credit >= 1 || byUrgency.first().dueNanos() - nowNanos <= 0)) {
            P first = byUrgency.first().partition();
            remove(first);
            taken.add(first);
            credit = Math.max(0, credit - 1);
        }
        return taken;
    }
}
