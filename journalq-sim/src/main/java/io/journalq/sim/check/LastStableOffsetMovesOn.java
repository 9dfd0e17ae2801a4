package io.journalq.sim.check;

import io.journalq.sim.workload.LogReader;
import io.journalq.sim.world.Violations;
import java.util.Collection;

/**
 * The last stable offset of each partition reaches the high watermark soon after the last fault, although producers have
 * stopped in the middle of transactions: these end by their timeout, and each of their partitions gets its marker.
 */
public final class LastStableOffsetMovesOn {
    private static final String INVARIANT = "LastStableOffsetMovesOn";

    private final Violations violations;

    public LastStableOffsetMovesOn(Violations violations) {
        this.violations = violations;
    }

    /** Whether it has happened, as of the readings of committed records of all partitions. */
    public static boolean isReached(Collection<LogReader.Reading> committed) {
        return committed.stream().allMatch(LastStableOffsetMovesOn::isReached);
    }

    private static boolean isReached(LogReader.Reading reading) {
        return reading.bounds().lastStableOffset() >= reading.bounds().highWatermark();
    }

    /** Reports the partitions in which it has not happened. */
    public void check(Collection<LogReader.Reading> committed) {
        committed.stream()
                .filter(reading -> !isReached(reading))
                .forEach(reading -> violations.report(
                        INVARIANT, reading.partition() + " is stable up to " + reading.bounds() + " only"));
    }
}
