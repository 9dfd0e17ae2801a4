package io.journalq.sim.check;

import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The committed offset of a group is the last one that was acknowledged, whichever broker coordinates the group. Instead
 * of it, it can be one whose commit got an error or no response, also a commit that is still on its way.
 */
public final class PositionsAreKept {
    private static final String INVARIANT = "PositionsAreKept";
    /** The group has committed nothing. */
    public static final long NONE = -1;

    private final Violations violations;
    private final Map<String, Long> acknowledged = new HashMap<>();
    private final Map<String, Set<Long>> unknown = new HashMap<>();

    public PositionsAreKept(Violations violations) {
        this.violations = violations;
    }

    /** A group sends a commit, which may take effect at any time from now on. Each has an offset of its own. */
    public void onCommit(String group, long offset) {
        unknown.computeIfAbsent(group, none -> new HashSet<>()).add(offset);
    }

    /** A coordinator acknowledges an offset. A group commits one after the other. */
    public void onCommitted(String group, long offset) {
        unknown.getOrDefault(group, new HashSet<>()).remove(offset);
        acknowledged.put(group, offset);
    }

    /** A group reads its offset after its last commit, when all brokers serve again. */
    public void onRead(String group, long offset) {
        long expected = acknowledged.getOrDefault(group, NONE);
        if (offset != expected && !unknown.getOrDefault(group, Set.of()).contains(offset)) {
            violations.report(
                    INVARIANT,
                    "group " + group + " has offset " + offset + ", and offset " + expected + " was acknowledged last");
        }
    }
}
