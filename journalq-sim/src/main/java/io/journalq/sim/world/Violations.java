package io.journalq.sim.world;

import java.util.ArrayList;
import java.util.List;

/** Promises that were broken in one simulation. The first one counts; what follows may be its consequence. */
public final class Violations {
    private static final int MAX_KEPT = 10;

    private final List<String> found = new ArrayList<>();

    /**
     * Reports a broken promise.
     *
     * @param invariant name of the promise
     * @param details what was found
     */
    public void report(String invariant, String details) {
        if (found.size() < MAX_KEPT) {
            found.add(invariant + ": " + details);
        }
    }

    public boolean isEmpty() {
        return found.isEmpty();
    }

    /** All that was found, the first one first. */
    public List<String> found() {
        return List.copyOf(found);
    }
}
