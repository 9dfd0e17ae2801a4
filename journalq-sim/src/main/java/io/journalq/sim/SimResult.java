package io.journalq.sim;

import io.journalq.sim.workload.World.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What came of one seed.
 *
 * @param hash of everything that happened
 * @param events how much happened
 * @param crashes how often the broker was killed or lost power
 * @param records acknowledged or read
 * @param work what clients got done
 * @param violations broken promises; none when all is well
 */
public record SimResult(
        long seed, long hash, long events, int crashes, long records, Map<Work, Long> work, List<String> violations) {
    public boolean isSound() {
        return violations.isEmpty();
    }

    /** This one, held against what came of the same seed a second time: everything must be the same. */
    SimResult against(SimResult second) {
        if (second.hash == hash && second.events == events) {
            return this;
        }
        List<String> all = new ArrayList<>(violations);
        all.add("TwoRunsAreTheSame: " + events + " events, hash " + Long.toHexString(hash) + ", then " + second.events
                + " events, hash " + Long.toHexString(second.hash));
        return new SimResult(seed, hash, events, crashes, records, work, List.copyOf(all));
    }
}
