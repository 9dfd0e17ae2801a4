package io.journalq.server.network;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The size of all requests on one loop that have no response yet, except large ones. When the budget is used up,
 * connections wait here until enough is released. On the loop.
 */
public final class InFlightBudget {
    private final long limitBytes;
    private final Set<Waiter> waiting = new LinkedHashSet<>();
    private long usedBytes;

    /** Waits until the budget is low. */
    @FunctionalInterface
    public interface Waiter {
        void onBudgetLow();
    }

    InFlightBudget(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    public void take(long sizeBytes) {
        usedBytes += sizeBytes;
    }

    public void giveBack(long sizeBytes) {
        usedBytes -= sizeBytes;
        if (!waiting.isEmpty() && isLow()) {
            List<Waiter> all = new ArrayList<>(waiting);
            waiting.clear();
            all.forEach(Waiter::onBudgetLow);
        }
    }

    public boolean isExceeded() {
        return usedBytes > limitBytes;
    }

    public boolean isLow() {
        return usedBytes <= limitBytes * ConnectionLimits.LOW_WATER;
    }

    boolean hasWaiting() {
        return !waiting.isEmpty();
    }

    /** Calls {@code waiter} once the budget is low. */
    public void await(Waiter waiter) {
        waiting.add(waiter);
    }

    public void forget(Waiter waiter) {
        waiting.remove(waiter);
    }

    long usedBytes() {
        return usedBytes;
    }
}
