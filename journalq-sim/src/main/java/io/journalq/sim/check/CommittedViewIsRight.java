package io.journalq.sim.check;

import io.journalq.sim.workload.LogReader;
import io.journalq.sim.world.Violations;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Readers of committed records get exactly the records of committed transactions, up to the last stable offset. What
 * they read is compared with all records and with the markers among them.
 */
public final class CommittedViewIsRight {
    private static final String INVARIANT = "CommittedViewIsRight";

    private final Violations violations;

    public CommittedViewIsRight(Violations violations) {
        this.violations = violations;
    }

    /**
     * Compares two readings.
     *
     * @param committed the reading of committed records, which came first
     * @param everything the reading of all records. Retention may have removed records since the first one
     */
    public void check(LogReader.Reading committed, LogReader.Reading everything) {
        long lastStableOffset = committed.bounds().lastStableOffset();
        Set<Long> shown = new HashSet<>();
        committed.records().forEach(record -> shown.add(record.offset()));
        Map<Long, Boolean> outcomes = outcomes(everything);
        for (LogReader.Found record : everything.all()) {
            if (record.isMarker()) {
                continue;
            }
            boolean stable = record.offset() < lastStableOffset;
            Boolean isCommitted = record.isTransactional() ? outcomes.get(record.offset()) : Boolean.TRUE;
            boolean isShown = shown.contains(record.offset());
            if (isShown && !Boolean.TRUE.equals(isCommitted)) {
                violations.report(INVARIANT, committed.partition() + " shows " + record + ", which is not committed");
            }
            if (stable && isCommitted == null) {
                violations.report(
                        INVARIANT,
                        committed.partition() + " is stable up to " + lastStableOffset + ", but " + record
                                + " is of an open transaction");
            }
            if (stable && !isShown && Boolean.TRUE.equals(isCommitted)) {
                violations.report(INVARIANT, committed.partition() + " hides " + record + ", which is committed");
            }
        }
        for (LogReader.Found record : committed.records()) {
            if (record.offset() >= lastStableOffset) {
                violations.report(
                        INVARIANT,
                        committed.partition() + " shows " + record + " at or after the last stable offset "
                                + lastStableOffset);
            }
        }
    }

    /**
     * For each transactional record whether its transaction is committed, by offset. Records of open transactions are
     * absent.
     */
    private static Map<Long, Boolean> outcomes(LogReader.Reading reading) {
        Map<Long, List<Long>> open = new HashMap<>();
        Map<Long, Boolean> outcomes = new HashMap<>();
        for (LogReader.Found record : reading.all()) {
            if (record.isMarker()) {
                List<Long> ended = open.remove(record.producerId());
                if (ended != null) {
                    ended.forEach(offset -> outcomes.put(offset, record.commits()));
                }
            } else if (record.isTransactional()) {
                open.computeIfAbsent(record.producerId(), none -> new ArrayList<>())
                        .add(record.offset());
            }
        }
        return outcomes;
    }
}
