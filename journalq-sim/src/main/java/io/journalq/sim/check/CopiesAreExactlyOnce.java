package io.journalq.sim.check;

import io.journalq.sim.cluster.CopyJob;
import io.journalq.sim.workload.LogReader;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A job that copies records in transactions, and commits its position in them, copies each committed record before that
 * position exactly once, and no other record, although brokers are killed or cut off and instances are fenced.
 */
public final class CopiesAreExactlyOnce {
    private static final String INVARIANT = "CopiesAreExactlyOnce";

    private final Violations violations;
    private final Map<String, Long> positions = new HashMap<>();

    public CopiesAreExactlyOnce(Violations violations) {
        this.violations = violations;
    }

    /** The group of a job has this position at the end. */
    public void onPosition(CopyJob job, long offset) {
        positions.put(job.id(), Math.max(0, offset));
    }

    /**
     * Compares the outputs of a job with its input.
     *
     * @param input the committed records of the input
     * @param outputs the committed records of the outputs
     */
    public void check(CopyJob job, LogReader.Reading input, List<LogReader.Reading> outputs) {
        TreeMap<Long, LogReader.Found> copies = new TreeMap<>();
        for (LogReader.Reading output : outputs) {
            for (LogReader.Found found : output.records()) {
                long offset = job.inputOffsetOf(found.id());
                LogReader.Found before = offset < 0 ? null : copies.putIfAbsent(offset, found);
                if (before != null) {
                    violations.report(
                            INVARIANT,
                            output.partition() + " has another copy of offset " + offset + " of " + input.partition()
                                    + ": " + found + " and " + before);
                }
            }
        }
        long position = positions.get(job.id());
        for (LogReader.Found found : input.records()) {
            LogReader.Found copy = copies.remove(found.offset());
            if ((copy != null) != (found.offset() < position)) {
                violations.report(
                        INVARIANT,
                        job.id() + " is at " + position + " of " + input.partition() + ", and the copy of " + found
                                + " is " + copy);
            }
        }
        if (!copies.isEmpty()) {
            violations.report(INVARIANT, input.partition() + " does not have the originals of " + copies);
        }
    }
}
