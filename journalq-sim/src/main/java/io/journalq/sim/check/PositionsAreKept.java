package io.journalq.sim.check;

import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The committed offset of a group is the last one that was acknowledged, whichever broker coordinates the group. Instead
 * of it, it can be one whose commit got an error or no response, also a commit that is still on its way. If a group sent
 * a commit before an earlier one was acknowledged, because it had waited long enough for that, it can be either.
 */
public final class PositionsAreKept {
    private static final String INVARIANT = "PositionsAreKept";
    /** The group has committed nothing. */
    public static final long NONE = -1;

    private final Violations violations;
    private final Map<String, Commits> groups = new HashMap<>();

    /** The commits of a group. */
    private static final class Commits {
        /** Those without an acknowledgement, with what was acknowledged when they were sent. */
        final Map<Long, Set<Long>> unknown = new HashMap<>();
        /** Those that are acknowledged, and that no other commit has certainly replaced. */
        final Set<Long> acknowledged = new HashSet<>(Set.of(NONE));
    }

    public PositionsAreKept(Violations violations) {
        this.violations = violations;
    }

    /** A group sends a commit, which may take effect at any time from now on. Each has an offset of its own. */
    public void onCommit(String group, long offset) {
        Commits commits = groups.computeIfAbsent(group, none -> new Commits());
        commits.unknown.put(offset, Set.copyOf(commits.acknowledged));
    }

    /** A coordinator acknowledges an offset. It replaces what was acknowledged before this commit was sent. */
    public void onCommitted(String group, long offset) {
        Commits commits = groups.get(group);
        commits.acknowledged.removeAll(commits.unknown.remove(offset));
        commits.acknowledged.add(offset);
    }

    /** A group reads its offset after its last commit, when all brokers serve again. */
    public void onRead(String group, long offset) {
        Commits commits = groups.getOrDefault(group, new Commits());
        if (!commits.acknowledged.contains(offset) && !commits.unknown.containsKey(offset)) {
            violations.report(
                    INVARIANT,
                    "group " + group + " has offset " + offset + ", and of " + commits.acknowledged
                            + " one was acknowledged last");
        }
    }
}
