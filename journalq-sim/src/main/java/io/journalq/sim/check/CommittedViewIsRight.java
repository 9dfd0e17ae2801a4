package io.journalq.sim.check;

import io.journalq.sim.workload.LogReader;
import io.journalq.sim.workload.ReadBack;
import io.journalq.sim.world.Violations;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Those who want records only when their transactions are committed get exactly these, up to the last stable offset: what
 * they read is held against all records and the ends of transactions among them.
 */
public final class CommittedViewIsRight {
    private static final String INVARIANT = "CommittedViewIsRight";

    private final Violations violations;

    public CommittedViewIsRight(Violations violations) {
        this.violations = violations;
    }

    /**
     * Compares the two.
     *
     * @param committed read first
     * @param everything read later: by then retention and compaction may have taken some away
     */
    public void check(ReadBack committed, ReadBack everything) {
        Set<Long> shown = new HashSet<>();
        committed.records().forEach(record -> shown.add(record.offset()));
        if (everything.partition().plan().isCompacted()) {
            return; // Markers may have gone meanwhile, with all that they ended.
        }
        Map<Long, Boolean> fates = fates(everything);
        for (LogReader.Found record : everything.records()) {
            if (record.offset() < everything.logStartOffset()) {
                continue; // The markers behind it may have gone with it.
            }
            boolean stable = record.offset() < committed.lastStableOffset();
            Boolean isCommitted = record.isTransactional() ? fates.get(record.offset()) : Boolean.TRUE;
            boolean isShown = shown.contains(record.offset());
            if (isShown && !Boolean.TRUE.equals(isCommitted)) {
                violations.report(INVARIANT, committed.partition() + " shows " + record + ", which is not committed");
            }
            if (stable && isCommitted == null) {
                violations.report(
                        INVARIANT,
                        committed.partition() + " is stable up to " + committed.lastStableOffset() + ", but " + record
                                + " has not ended");
            }
            if (stable && !isShown && Boolean.TRUE.equals(isCommitted)) {
                violations.report(INVARIANT, committed.partition() + " hides " + record + ", which is committed");
            }
        }
        for (LogReader.Found record : committed.records()) {
            if (record.offset() >= committed.lastStableOffset()) {
                violations.report(
                        INVARIANT,
                        committed.partition() + " shows " + record + " behind " + committed.lastStableOffset());
            }
        }
    }

    /** Whether a transactional record's transaction is committed, by offset; not there while it is open. */
    private static Map<Long, Boolean> fates(ReadBack reading) {
        Map<Long, List<Long>> open = new HashMap<>();
        Map<Long, Boolean> fates = new HashMap<>();
        List<LogReader.Found> all = new ArrayList<>(reading.records());
        all.addAll(reading.markers());
        all.sort(Comparator.comparingLong(LogReader.Found::offset));
        for (LogReader.Found record : all) {
            if (record.isMarker()) {
                List<Long> ended = open.remove(record.producerId());
                if (ended != null) {
                    ended.forEach(offset -> fates.put(offset, record.commits()));
                }
            } else if (record.isTransactional()) {
                open.computeIfAbsent(record.producerId(), none -> new ArrayList<>())
                        .add(record.offset());
            }
        }
        return fates;
    }
}
