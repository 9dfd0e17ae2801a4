package io.journalq.sim;

import io.journalq.sim.workload.World.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The result of one seed.
 *
 * @param hash hash of all events
 * @param events number of events
 * @param crashes how often the broker was killed or lost power
 * @param records number of records that were acknowledged or read
 * @param work what the clients did
 * @param violations broken guarantees; empty if there are none
 */
public record SimResult(
        long seed, long hash, long events, int crashes, long records, Map<Work, Long> work, List<String> violations) {
    public boolean isSound() {
        return violations.isEmpty();
    }

    /** The results of two parts of one seed. */
    SimResult and(SimResult other) {
        List<String> all = new ArrayList<>(violations);
        all.addAll(other.violations);
        return new SimResult(
                seed,
                hash ^ Long.rotateLeft(other.hash, 1),
                events + other.events,
                crashes + other.crashes,
                records + other.records,
                work,
                List.copyOf(all));
    }

    /** Compares this result with that of a second run of the same seed, which must have the same events. */
    SimResult comparedWith(SimResult second) {
        if (second.hash == hash && second.events == events) {
            return this;
        }
        List<String> all = new ArrayList<>(violations);
        all.add("RunsAreIdentical: " + events + " events, hash " + Long.toHexString(hash) + ", then " + second.events
                + " events, hash " + Long.toHexString(second.hash));
        return new SimResult(seed, hash, events, crashes, records, work, List.copyOf(all));
    }
}
