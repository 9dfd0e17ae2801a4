package io.journalq.sim.world;

import java.util.ArrayList;
import java.util.List;

/** Guarantees that were broken in one simulation. The first one counts. Later ones may follow from it. */
public final class Violations {
    private static final int MAX_KEPT = 10;

    private final List<String> found = new ArrayList<>();

    /**
     * Reports a violation.
     *
     * @param invariant name of the guarantee
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

    /** All violations, in the order in which they were found. */
    public List<String> found() {
        return List.copyOf(found);
    }
}
